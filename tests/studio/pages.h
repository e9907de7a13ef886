// Pages that the tests of the studio send.
#pragma once

#include "studio/studio.h"

namespace convgrad::test {

Json constant(const std::string& id, const std::vector<int>& shape, const std::vector<double>& values,
              const std::string& dtype = "float");
// 1, 2, 3, ...
Json counting(const std::string& id, const std::vector<int>& shape);
Json node(const std::string& id, const std::string& op, Json attrs = Json::object());
Json edge(const std::string& from, const std::string& to, const std::string& pin, const std::string& output = "output");
Json page(const std::vector<Json>& nodes, const std::vector<Json>& edges);

// y = Conv2D(x, w) of 1..9 and 1..4, VALID: 37, 47, 67, 77.
Json small_page();
// One convolution of 500 billion operations.
Json long_page();
// weight -= rate * weight, from 8 on.
Json shrinking_page(double rate);
Json body(const Json& page);

}  // namespace convgrad::test
