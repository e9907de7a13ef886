// What the worker answers without a run: each takes the text of a request's body.
#pragma once

#include <string>
#include <string_view>

#include "studio/server/body.h"
#include "studio/server/budgets.h"

namespace convgrad::studio {

// Null when there is no question of that name.
using Question = Result<std::string> (*)(std::string_view body, const Budgets& budgets);
Question find_question(std::string_view name);

// A file's text as a page with all tensors inside, and such a page as the text of a file. None is written beside it: in
// a folder of many pages two blocks of one name would have one file.
Result<std::string> opened_page(std::string_view text, const std::string& folder);
Result<std::string> saved_page(std::string_view body, const Budgets& budgets);

}  // namespace convgrad::studio
