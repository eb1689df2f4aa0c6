using Rookery.Data;
using Rookery.Platform;
using Rookery.Platform.Compression;

namespace Rookery.Transfer;

/// <summary>An import's input, decompressed while it is read, with a count of the compressed bytes read.</summary>
internal sealed class ImportInput : IDisposable
{
    private readonly CountedStream _raw;
    private readonly Stream _unpacked;

    private ImportInput(CountedStream raw, Stream unpacked)
    {
        _raw = raw;
        _unpacked = unpacked;
        Bytes = new ByteSource(unpacked);
    }

    /// <summary>
    /// The length in bytes, before decompression, and the modification time (UTC) of the file that is read; null for
    /// stdin and pipes, which cannot be read again.
    /// </summary>
    public (long Bytes, DateTime Modified)? Version { get; private init; }

    /// <summary>The decompressed input as a byte window.</summary>
    public ByteSource Bytes { get; }

    /// <summary>The decompressed input as a stream.</summary>
    public Stream Stream => _unpacked;

    /// <summary>Bytes read from the compressed input.</summary>
    public long CompressedBytesRead => _raw.Count;

    /// <summary>Opens a file, or stdin for `-`. Compression is recognised by the first bytes.</summary>
    /// <exception cref="Access.AdminException">The file cannot be read.</exception>
    public static ImportInput Open(string path)
    {
        var file = InputFile.Open(path);
        var version =
            path is not "-" && file.CanSeek ? (file.Length, ModificationOf(path)) : default((long, DateTime)?);
        var raw = new CountedStream(file);
        byte[] begin = new byte[4];
        int length = raw.ReadAtLeast(begin, begin.Length, throwOnEndOfStream: false);
        raw.PutBack(begin.AsMemory(0, length));

        // The magic numbers of gzip (RFC 1952) and of Zstandard (RFC 8878).
        Stream unpacked = begin switch
        {
            [0x1F, 0x8B, ..] => new GzipInputStream(raw),
            [0x28, 0xB5, 0x2F, 0xFD] => new ZstdStream(raw),
            _ => raw,
        };
        return new ImportInput(raw, unpacked) { Version = version };
    }

    public void Dispose()
    {
        _unpacked.Dispose();
        _raw.Dispose();
    }

    // FileInfo does not follow a symbolic link, so the link is resolved first.
    private static DateTime ModificationOf(string path)
    {
        var file = new FileInfo(path);
        return (file.ResolveLinkTarget(returnFinalTarget: true) ?? file).LastWriteTimeUtc;
    }

    /// <summary>Counts the bytes read; the first bytes can be put back.</summary>
    private sealed class CountedStream(Stream inner) : ReadOnlyStream
    {
        private ReadOnlyMemory<byte> _back;

        public long Count { get; private set; }

        public void PutBack(ReadOnlyMemory<byte> bytes) => _back = bytes;

        public override int Read(byte[] buffer, int offset, int count) => Read(buffer.AsSpan(offset, count));

        public override int Read(Span<byte> buffer)
        {
            if (!_back.IsEmpty)
            {
                int count = Math.Min(buffer.Length, _back.Length);
                _back.Span[..count].CopyTo(buffer);
                _back = _back[count..];
                return count;
            }

            int read = inner.Read(buffer);
            Count += read;
            return read;
        }

        protected override void Dispose(bool disposing)
        {
            if (disposing)
            {
                inner.Dispose();
            }

            base.Dispose(disposing);
        }
    }
}
