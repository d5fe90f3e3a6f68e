const _: () = assert!(size_of::<Required>() <= 48 && 48 <= 1024);
const _: () = assert!(size_of::<NumberOrName>() <= 72 && 72 <= 1024);
const _: () = assert!(size_of::<UnionAttribute>() <= 72 && 72 <= 1024);
const _: () = assert!(size_of::<Value>() <= 880 && 880 <= 1024);
