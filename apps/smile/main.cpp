#include <cstdio>

int main() {
  std::puts("smile " "0.1.0");
  return 0;
}
