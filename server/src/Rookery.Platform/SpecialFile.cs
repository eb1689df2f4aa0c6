namespace Rookery.Platform;

/// <summary>Recognises devices, pipes and sockets among files.</summary>
public static class SpecialFile
{
    // The types in a file's mode: S_IFMT, S_IFDIR and S_IFREG of inode(7).
    private const int TypeMask = 0xF000;
    private const int DirectoryType = 0x4000;
    private const int RegularType = 0x8000;

    /// <summary>
    /// Returns whether a path, or the target of its symbolic link, is a device, a pipe or a socket. Reading such a file
    /// may wait for ever or never end, and renaming a file over it would delete it. False if the path does not exist.
    /// </summary>
    public static unsafe bool Is(string path)
    {
        byte* status = stackalloc byte[LibC.ExtendedStatusBytes];
        if (LibC.ExtendedStatus(LibC.WorkingDirectory, path, flags: 0, LibC.StatusOfType, status) != 0)
        {
            return false;
        }

        int type = *(ushort*)(status + LibC.ExtendedModeOffset) & TypeMask;
        return type is not (DirectoryType or RegularType);
    }
}
