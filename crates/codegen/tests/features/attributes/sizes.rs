const _: () = assert!(size_of::<Item>() <= 80 && 80 <= 1024);
const _: () = assert!(size_of::<Less>() <= 32 && 32 <= 1024);
const _: () = assert!(size_of::<ItemOrDerived>() <= 112 && 112 <= 1024);
const _: () = assert!(size_of::<Open>() <= 104 && 104 <= 1024);
const _: () = assert!(size_of::<Value>() <= 240 && 240 <= 1024);
