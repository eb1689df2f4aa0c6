using System.Buffers;
using System.IO.Compression;

namespace Rookery.Platform.Compression;

/// <summary>
/// Decompresses Brotli data (RFC 7932) that is in memory. <see cref="BrotliStream"/> is not used, because it also
/// contains the compressor, whose code and tables are 0.2 MB of the executable.
/// </summary>
/// <param name="packed">The compressed bytes. Reading them must not wait. They are disposed with this stream.</param>
public sealed class BrotliInputStream(Stream packed) : ReadOnlyStream
{
    private const int WindowBytes = 8 << 10;

    private readonly byte[] _window = new byte[WindowBytes];
    private BrotliDecoder _decoder; // a field that is changed in place, because it is a struct
    private int _start;
    private int _end;
    private bool _isAtEnd;

    /// <summary>Reads decompressed bytes.</summary>
    /// <exception cref="InvalidDataException">The input is damaged or incomplete.</exception>
    public override int Read(Span<byte> buffer)
    {
        while (!buffer.IsEmpty && !_isAtEnd)
        {
            var status = _decoder.Decompress(_window.AsSpan(_start.._end), buffer, out int consumed, out int written);
            _start += consumed;
            _isAtEnd = status == OperationStatus.Done;
            if (status == OperationStatus.InvalidData)
            {
                throw new InvalidDataException("The Brotli data is damaged.");
            }

            if (written > 0)
            {
                return written;
            }

            if (status == OperationStatus.NeedMoreData)
            {
                Fill();
            }
        }

        return 0;
    }

    /// <inheritdoc/>
    public override int Read(byte[] buffer, int offset, int count) => Read(buffer.AsSpan(offset, count));

    /// <inheritdoc cref="Read(Span{byte})"/>
    public override ValueTask<int> ReadAsync(Memory<byte> buffer, CancellationToken cancellationToken = default)
    {
        cancellationToken.ThrowIfCancellationRequested();
        return ValueTask.FromResult(Read(buffer.Span));
    }

    /// <inheritdoc/>
    protected override void Dispose(bool disposing)
    {
        if (disposing)
        {
            _decoder.Dispose();
            packed.Dispose();
        }

        base.Dispose(disposing);
    }

    private void Fill()
    {
        int rest = _end - _start;
        _window.AsSpan(_start, rest).CopyTo(_window);
        int read = packed.Read(_window.AsSpan(rest));
        _start = 0;
        _end = rest + read;
        if (read == 0)
        {
            throw new InvalidDataException("The Brotli data is incomplete.");
        }
    }
}
