// SPDX-License-Identifier: MIT
// The compiled parts of Boost.JSON.
#include <boost/json/src.hpp>
