const _: () = assert!(size_of::<Kind>() <= 24 && 24 <= 1024);
const _: () = assert!(size_of::<Item>() <= 32 && 32 <= 1024);
const _: () = assert!(size_of::<Value>() <= 56 && 56 <= 1024);
