const _: () = assert!(size_of::<Required>() <= 48 && 48 <= 1024);
const _: () = assert!(size_of::<NumberOrName>() <= 80 && 80 <= 1024);
const _: () = assert!(size_of::<UnionAttribute>() <= 80 && 80 <= 1024);
const _: () = assert!(size_of::<Value>() <= 904 && 904 <= 1024);
