// SPDX-License-Identifier: MIT
//
// Both parsers of HTTP/1.1. Each stands in a header of its own, because hardly anybody needs both.
#pragma once

#include <comcp/http/request_parser.hpp>
#include <comcp/http/response_parser.hpp>
