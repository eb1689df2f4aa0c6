using Rookery.Documents.Nodes;
using Rookery.Platform;

namespace Rookery.Documents.Attachments;

/// <summary>
/// Counts the bytes that uploads have reserved on the disk, so that many uploads at once do not use up the node's
/// reserve of free space. Used on the thread of contents only.
/// </summary>
/// <param name="disk">The disk.</param>
/// <param name="directory">A directory on the file system; its parent exists.</param>
/// <param name="options">The reserve, and the node's name for messages.</param>
internal sealed class ContentSpace(IDisk disk, string directory, NodeOptions options)
{
    private long _reserved;

    /// <summary>Reserves room, so that an upload can write this many more bytes.</summary>
    /// <param name="reserved">The bytes that the upload has reserved and not written.</param>
    /// <param name="bytes">The bytes that it needs.</param>
    /// <exception cref="ContentRefusedException">There is no room.</exception>
    public void Reserve(ref long reserved, long bytes)
    {
        if (reserved >= bytes)
        {
            return;
        }

        Require(reserved, bytes);
        _reserved += bytes - reserved;
        reserved = bytes;
    }

    /// <summary>Refuses bytes for which there is no room now, and reserves none.</summary>
    /// <param name="reserved">The bytes that the upload has reserved and not written.</param>
    /// <param name="bytes">The bytes that it needs.</param>
    /// <exception cref="ContentRefusedException">There is no room.</exception>
    public void Require(long reserved, long bytes)
    {
        var space = disk.SpaceOf(disk.Exists(directory) ? directory : Path.GetDirectoryName(directory)!);
        long needed = options.Reserve.BytesOf(space.TotalBytes);
        if (space.FreeBytes - needed - _reserved < bytes - reserved)
        {
            string others = _reserved > reserved ? $", {Amount.Bytes(_reserved - reserved)} go to other uploads" : "";
            throw new ContentRefusedException(
                $"Node {options.NodeTag} has no room for the attachment: {Amount.Bytes(space.FreeBytes)} are free, of "
                    + $"which {Amount.Bytes(needed)} are its reserve{others}, and {Amount.Bytes(bytes)} are needed. "
                    + "Nothing was stored. Free some space, or delete documents and attachments.",
                ContentRefusal.NoRoom
            );
        }
    }

    /// <summary>Counts reserved bytes as written, or as no longer needed.</summary>
    public void Release(long bytes) => _reserved -= bytes;
}
