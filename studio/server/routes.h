// The requests of docs/design/009-studio.md: what each hands to the worker, the folder or the gallery.
#pragma once

#include <atomic>
#include <string>

#include "studio/server/door.h"
#include "studio/server/folder.h"
#include "studio/server/runs.h"
#include "studio/server/studio.h"

namespace httplib {
class Server;
}

namespace convgrad::studio {

// All that a request may reach. Questions have a process of their own, so that shapes are told while a run goes on.
struct House {
  const Options& options;
  const Door& door;
  const Folder& folder;
  Worker& runner;
  Worker& answerer;
  Runs& runs;
};

// Door, headers, limits and all routes. The house must outlive the server.
void add_routes(httplib::Server& server, const House& house);

}  // namespace convgrad::studio
