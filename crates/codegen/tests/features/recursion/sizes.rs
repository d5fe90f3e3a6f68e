const _: () = assert!(size_of::<List>() <= 24 && 24 <= 1024);
const _: () = assert!(size_of::<Tree>() <= 24 && 24 <= 1024);
const _: () = assert!(size_of::<Wife>() <= 32 && 32 <= 1024);
const _: () = assert!(size_of::<Husband>() <= 32 && 32 <= 1024);
const _: () = assert!(size_of::<Nil>() <= 16 && 16 <= 1024);
const _: () = assert!(size_of::<Value>() <= 120 && 120 <= 1024);
