#pragma once
/// @file
/// Everything in one include: scaled dot-product attention on CPUs.

#include "simdattn/attention.hpp"
#include "simdattn/implementation.hpp"
#include "simdattn/staged.hpp"
#include "simdattn/status.hpp"
#include "simdattn/tensor.hpp"
#include "simdattn/version.hpp"
