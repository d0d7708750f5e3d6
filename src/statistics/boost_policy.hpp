// SPDX-License-Identifier: Apache-2.0
/// How Boost.Math is called: it returns NaN or infinity instead of throwing, never touches errno, and
/// computes in double (no promotion to long double, which is slower and no more exact than we need).
#pragma once

#include <boost/math/policies/policy.hpp>

namespace smile {

namespace policies = boost::math::policies;
using QuietPolicy = policies::policy<
    policies::domain_error<policies::ignore_error>, policies::pole_error<policies::ignore_error>,
    policies::overflow_error<policies::ignore_error>, policies::underflow_error<policies::ignore_error>,
    policies::denorm_error<policies::ignore_error>, policies::rounding_error<policies::ignore_error>,
    policies::evaluation_error<policies::ignore_error>,
    policies::indeterminate_result_error<policies::ignore_error>, policies::promote_double<false>,
    policies::promote_float<false>>;

}  // namespace smile
