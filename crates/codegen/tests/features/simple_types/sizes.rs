const _: () = assert!(size_of::<Value>() <= 176 && 176 <= 1024);
