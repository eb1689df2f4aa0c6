using System.Runtime.InteropServices;
using Rookery.Hosting;
using Rookery.Platform;

namespace Rookery.Transfer;

/// <summary>
/// Decompresses Zstandard (RFC 8878), the compression of RavenDB's dumps since version 6. Uses the system's
/// libzstd.so.1, which every Debian has.
/// </summary>
internal sealed partial class ZstdStream : ReadOnlyStream
{
    private const string Library = "libzstd.so.1";
    private const string CreateName = "ZSTD_createDStream";
    private const string FreeName = "ZSTD_freeDStream";
    private const string DecompressName = "ZSTD_decompressStream";
    private const string IsErrorName = "ZSTD_isError";
    private const int PackedBytes = 128 << 10;

    private readonly Stream _packed;
    private readonly byte[] _buffer = new byte[PackedBytes];
    private nint _context;
    private int _start;
    private int _end;
    private bool _isFrameOpen;

    /// <summary>Starts decompression.</summary>
    /// <exception cref="Access.AdminException">The library is not installed.</exception>
    public ZstdStream(Stream packed)
    {
        _packed = packed;
        if (!SystemLibrary.Has(Library, CreateName, FreeName, DecompressName, IsErrorName))
        {
            throw new Access.AdminException(
                $"The input is compressed with Zstandard, and {Library} is not installed. Install libzstd1, "
                    + $"or pipe the input through `zstd -dc`.",
                ExitCode.Failure
            );
        }

        _context = Create();
    }

    public override int Read(byte[] buffer, int offset, int count) => Read(buffer.AsSpan(offset, count));

    public override unsafe int Read(Span<byte> buffer)
    {
        while (!buffer.IsEmpty)
        {
            if (_start == _end)
            {
                _start = 0;
                _end = _packed.Read(_buffer);
                if (_end == 0)
                {
                    return !_isFrameOpen ? 0 : throw new InvalidDataException("The Zstandard frame is cut off.");
                }
            }

            fixed (byte* from = _buffer)
            fixed (byte* to = buffer)
            {
                var input = new Piece
                {
                    Bytes = from,
                    Size = (nuint)_end,
                    At = (nuint)_start,
                };
                var output = new Piece
                {
                    Bytes = to,
                    Size = (nuint)buffer.Length,
                    At = 0,
                };
                nuint result = Decompress(_context, ref output, ref input);
                if (IsError(result) != 0)
                {
                    throw new InvalidDataException("The Zstandard frame is damaged.");
                }

                // 0 means that the frame is complete and fully output.
                _isFrameOpen = result != 0;
                _start = (int)input.At;
                if (output.At > 0)
                {
                    return (int)output.At;
                }
            }
        }

        return 0;
    }

    protected override void Dispose(bool disposing)
    {
        if (_context != 0)
        {
            _ = Free(_context);
            _context = 0;
        }

        base.Dispose(disposing);
    }

    [LibraryImport(Library, EntryPoint = CreateName)]
    private static partial nint Create();

    [LibraryImport(Library, EntryPoint = FreeName)]
    private static partial nuint Free(nint context);

    [LibraryImport(Library, EntryPoint = DecompressName)]
    private static partial nuint Decompress(nint context, ref Piece output, ref Piece input);

    [LibraryImport(Library, EntryPoint = IsErrorName)]
    private static partial uint IsError(nuint result);

    /// <summary>ZSTD_inBuffer and ZSTD_outBuffer.</summary>
    [StructLayout(LayoutKind.Sequential)]
    private unsafe struct Piece
    {
        public byte* Bytes;
        public nuint Size;
        public nuint At;
    }
}
