using System.Buffers;
using System.Buffers.Binary;
using Rookery.Platform;

namespace Rookery.Storage.Manifest;

/// <summary>
/// The two manifest files (slots), written alternately, so that the last good manifest is never overwritten. Each slot
/// contains its manifest twice. With one copy a damaged sector could look like a torn write, and a start from the
/// previous manifest would lose data.
/// </summary>
/// <remarks>
/// A copy is [8 magic][u32 format version][u32 CRC-32C of all other bytes][u32 body length][u32 feature level]
/// [u64 revision][body], at a multiple of 4 KiB. All versions have this header.
/// </remarks>
internal sealed class ManifestSlots(IDisk disk, string directory, IIoRecorder io)
{
    /// <summary>The format version that this program writes, and the highest that it reads.</summary>
    public const int FormatVersion = 3;

    /// <summary>The feature level that this program writes, and the highest that it reads.</summary>
    public const int FeatureLevel = 1;

    // Enough for both copies of a manifest with hundreds of thousands of runs. A larger file is damaged, and reading it
    // could exhaust the node's memory although the other slot may be valid.
    private const int MaxFileBytes = 64 << 20;

    private const int HeaderBytes = 32;
    private const int AlignmentBytes = 4096;
    private const int VersionOffset = 8;
    private const int ChecksumOffset = 12;
    private const int LengthOffset = 16; // the checksum covers all bytes from here, and those before the checksum
    private const int FeatureLevelOffset = 20;
    private const int RevisionOffset = 24;

    private int _nextSlot;
    private ReadOnlyMemory<byte> _newestCopy; // as Read found it, for Settle

    private static ReadOnlySpan<byte> Magic => "ROOKMANI"u8;

    /// <summary>Bytes written since this object was created.</summary>
    public long WrittenBytes { get; private set; }

    /// <summary>Returns the name of a slot.</summary>
    public static string NameOf(int slot) => slot == 0 ? "manifest-0" : "manifest-1";

    /// <summary>Reads the newest manifest; null if no slot contains a valid one.</summary>
    /// <exception cref="StorageFormatException">A newer program wrote the manifest.</exception>
    public ManifestRecord? Read()
    {
        ManifestRecord? newest = null;
        for (int slot = 0; slot < 2; slot++)
        {
            string path = Path.Join(directory, NameOf(slot));
            if (!disk.Exists(path))
            {
                continue;
            }

            ManifestRecord? candidate = ReadSlot(disk, path, out ReadOnlyMemory<byte> copy);
            if (candidate is not null && (newest is null || candidate.Revision > newest.Revision))
            {
                newest = candidate;
                _newestCopy = copy;
                _nextSlot = 1 - slot;
            }
        }

        return newest;
    }

    /// <summary>Returns the revision of a directory's newest manifest; 0 if no slot contains a valid one.</summary>
    /// <exception cref="StorageFormatException">A newer program wrote the manifest.</exception>
    public static long NewestRevision(IDisk disk, string directory) =>
        Enumerable
            .Range(0, 2)
            .Select(slot => Path.Join(directory, NameOf(slot)))
            .Where(disk.Exists)
            .Select(path => ReadSlot(disk, path, out _)?.Revision ?? 0)
            .DefaultIfEmpty()
            .Max();

    /// <summary>Returns which slots have no valid manifest and why, as part of a sentence.</summary>
    public string Describe() =>
        string.Join(
            " and ",
            Enumerable
                .Range(0, 2)
                .Select(slot =>
                {
                    string path = Path.Join(directory, NameOf(slot));
                    if (!disk.Exists(path))
                    {
                        return $"{NameOf(slot)} is missing";
                    }

                    using IDiskFile file = disk.Open(path, DiskOpen.Read);
                    return file.Length == 0 ? $"{NameOf(slot)} is empty" : $"{NameOf(slot)} is damaged";
                })
        );

    /// <summary>Writes a manifest durably into the slot that does not contain the last good one.</summary>
    /// <exception cref="DiskException">The manifest may or may not be durable. Its files must be kept until a manifest
    /// with a higher revision is durable.</exception>
    public void Write(ManifestRecord manifest)
    {
        var body = new ArrayBufferWriter<byte>(AlignmentBytes);
        ManifestCodec.Encode(manifest, body);
        byte[] copy = new byte[HeaderBytes + body.WrittenCount];
        WriteCopy(copy, manifest, body.WrittenSpan);
        WriteTo(_nextSlot, copy);
        _nextSlot = 1 - _nextSlot;
    }

    /// <summary>
    /// Makes the result of <see cref="Read"/> durable, before files that this manifest does not name are deleted. A
    /// process that was killed, or whose sync failed, may have left the manifest in the page cache only. Writes the
    /// bytes that were read, so a power cut meanwhile does no harm. It does not encode the manifest again: an older
    /// program may have encoded it differently.
    /// </summary>
    public void Settle()
    {
        WriteTo(1 - _nextSlot, _newestCopy.Span);
        disk.SyncDirectory(directory);
        _newestCopy = default;
    }

    private void WriteTo(int slot, ReadOnlySpan<byte> copy)
    {
        int copyBytes = (copy.Length + AlignmentBytes - 1) / AlignmentBytes * AlignmentBytes;
        byte[] bytes = new byte[2 * copyBytes];
        copy.CopyTo(bytes);
        copy.CopyTo(bytes.AsSpan(copyBytes));

        string path = Path.Join(directory, NameOf(slot));
        bool isNew = !disk.Exists(path);
        long begun = io.Begin();
        using (IDiskFile file = disk.Open(path, isNew ? DiskOpen.CreateNew : DiskOpen.ReadWrite))
        {
            file.Write(bytes, 0);
            file.Sync(); // this manifest is now in force
        }

        if (isNew)
        {
            disk.SyncDirectory(directory);
        }

        io.Record(IoKind.Manifest, begun, bytes.Length);
        WrittenBytes += bytes.Length;
    }

    private static void WriteCopy(Span<byte> target, ManifestRecord manifest, ReadOnlySpan<byte> body)
    {
        Magic.CopyTo(target);
        BinaryPrimitives.WriteInt32LittleEndian(target[VersionOffset..], ManifestCodec.VersionOf(manifest));
        BinaryPrimitives.WriteInt32LittleEndian(target[LengthOffset..], body.Length);
        BinaryPrimitives.WriteInt32LittleEndian(target[FeatureLevelOffset..], manifest.FeatureLevel);
        BinaryPrimitives.WriteInt64LittleEndian(target[RevisionOffset..], manifest.Revision);
        body.CopyTo(target[HeaderBytes..]);
        BinaryPrimitives.WriteUInt32LittleEndian(target[ChecksumOffset..], ChecksumOf(target, body.Length));
    }

    private static uint ChecksumOf(ReadOnlySpan<byte> copy, int bodyBytes)
    {
        uint state = Checksum.Append(Checksum.Start, copy[..ChecksumOffset]);
        return Checksum.Finish(Checksum.Append(state, copy[LengthOffset..(HeaderBytes + bodyBytes)]));
    }

    // Decodes the newest valid copy in a slot. Its bytes end with its body.
    private static ManifestRecord? ReadSlot(IDisk disk, string path, out ReadOnlyMemory<byte> copy)
    {
        copy = default;
        byte[] bytes;
        using (IDiskFile file = disk.Open(path, DiskOpen.Read))
        {
            if (file.Length > MaxFileBytes)
            {
                return null;
            }

            bytes = new byte[file.Length];
            int read = file.Read(bytes, 0);
            bytes = bytes[..read];
        }

        ManifestRecord? newest = null;
        for (int offset = 0; offset + HeaderBytes <= bytes.Length; offset += AlignmentBytes)
        {
            if (
                ReadCopy(bytes.AsSpan(offset), path) is { } candidate
                && (newest is null || candidate.Revision > newest.Revision)
            )
            {
                newest = candidate;
                int bodyBytes = BinaryPrimitives.ReadInt32LittleEndian(bytes.AsSpan(offset + LengthOffset));
                copy = bytes.AsMemory(offset, HeaderBytes + bodyBytes);
            }
        }

        return newest;
    }

    private static ManifestRecord? ReadCopy(ReadOnlySpan<byte> copy, string path)
    {
        if (!copy.StartsWith(Magic))
        {
            return null;
        }

        int bodyBytes = BinaryPrimitives.ReadInt32LittleEndian(copy[LengthOffset..]);
        if (
            bodyBytes < 0
            || bodyBytes > copy.Length - HeaderBytes
            || ChecksumOf(copy, bodyBytes) != BinaryPrimitives.ReadUInt32LittleEndian(copy[ChecksumOffset..])
        )
        {
            return null;
        }

        RefuseAbove(
            FormatVersion,
            BinaryPrimitives.ReadInt32LittleEndian(copy[VersionOffset..]),
            "format version",
            path
        );
        int featureLevel = BinaryPrimitives.ReadInt32LittleEndian(copy[FeatureLevelOffset..]);
        RefuseAbove(FeatureLevel, featureLevel, "feature level", path);
        return ManifestCodec.Decode(
            copy.Slice(HeaderBytes, bodyBytes),
            BinaryPrimitives.ReadInt64LittleEndian(copy[RevisionOffset..]),
            featureLevel
        );
    }

    private static void RefuseAbove(int highest, int found, string name, string path)
    {
        if (found > highest)
        {
            throw new StorageFormatException(
                $"{path} has {name} {found}, and this program reads up to {highest}: start the newer program that "
                    + "wrote it, or restore a backup."
            );
        }
    }
}
