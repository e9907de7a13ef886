#include "cli/engines.h"

#include "convgrad/plan.h"

namespace convgrad::cli {

Json engines_json() {
  Json engines = Json::array();
  for (const EngineInfo& engine : all_engines()) {
    engines.push_back(Json{{"name", engine.name}, {"obstacle", engine.obstacle}, {"description", engine.description}});
  }
  return engines;
}

}  // namespace convgrad::cli
