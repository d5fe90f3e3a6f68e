const _: () = assert!(size_of::<日本>() <= 4 && 4 <= 1024);
const _: () = assert!(size_of::<Value>() <= 64 && 64 <= 1024);
