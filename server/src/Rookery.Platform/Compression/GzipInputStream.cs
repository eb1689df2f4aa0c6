using System.Buffers.Binary;
using System.IO.Compression;

namespace Rookery.Platform.Compression;

/// <summary>
/// Decompresses gzip (RFC 1952) of one or more members and refuses bytes after the last member.
/// In contrast, <see cref="GZipStream"/> ends silently after the last member, and also where the header of a further
/// member is cut off.
/// </summary>
/// <remarks>
/// <see cref="DeflateStream"/> does not report where its data ends within the last bytes that it read. This stream
/// searches these bytes for the trailer of the member (its checksum and length), followed by the end of the input or by
/// the header of a further member.
/// </remarks>
public sealed class GzipInputStream : ReadOnlyStream
{
    private const int ReadBytes = 8 << 10; // at most, in one read of the input
    private const int TrailerBytes = 8;
    private const int MagicBytes = 2;

    private readonly byte[] _window = new byte[(2 * ReadBytes) + TrailerBytes + MagicBytes];
    private readonly Stream _packed;
    private readonly Feeder _feeder;
    private readonly bool _leavesOpen;
    private DeflateStream? _inflate;
    private Part _part = Part.Magic;

    // Positions in the window: the bytes that the decompressor read last begin at _lastRead, the unread ones at _start.
    private int _lastRead;
    private int _start;
    private int _end;
    private long _windowOffset; // of the window in the input
    private bool _isAtEnd; // whether the input has no bytes after the window's
    private bool _isLaterMember;
    private byte _headerFlags; // of the optional fields that are not skipped yet
    private int _bytesToSkip;
    private uint _checksum; // of the member's decompressed bytes so far
    private uint _length; // of the member's decompressed bytes so far, modulo 2^32

    private static ReadOnlySpan<byte> Signature => [0x1F, 0x8B];

    /// <summary>Starts decompression at the first byte of <paramref name="packed"/>.</summary>
    /// <param name="packed">The compressed bytes.</param>
    /// <param name="leaveOpen">Whether <paramref name="packed"/> stays open when this stream is disposed.</param>
    public GzipInputStream(Stream packed, bool leaveOpen = false)
    {
        _packed = packed;
        _leavesOpen = leaveOpen;
        _feeder = new Feeder(this);
    }

    private enum Part
    {
        Magic,
        Header,
        Data,
        Trailer,
    }

    private enum Step
    {
        Done,
        NeedsMore,
        Ended,
    }

    /// <summary>Reads decompressed bytes.</summary>
    /// <exception cref="TrailingBytesException">Bytes that are not gzip follow the last member.</exception>
    /// <exception cref="InvalidDataException">The input is damaged or incomplete.</exception>
    public override int Read(Span<byte> buffer)
    {
        while (!buffer.IsEmpty)
        {
            if (_part == Part.Data)
            {
                int count = _inflate!.Read(buffer);
                if (count > 0)
                {
                    return CountDecompressed(buffer[..count]);
                }

                _part = Part.Trailer;
            }

            switch (Advance())
            {
                case Step.Ended:
                    return 0;
                case Step.NeedsMore:
                    Add(_packed.Read(MakeRoom().Span));
                    break;
                default:
                    break;
            }
        }

        return 0;
    }

    /// <inheritdoc/>
    public override int Read(byte[] buffer, int offset, int count) => Read(buffer.AsSpan(offset, count));

    /// <inheritdoc cref="Read(Span{byte})"/>
    public override async ValueTask<int> ReadAsync(Memory<byte> buffer, CancellationToken cancellationToken = default)
    {
        while (!buffer.IsEmpty)
        {
            if (_part == Part.Data)
            {
                int count = await _inflate!.ReadAsync(buffer, cancellationToken);
                if (count > 0)
                {
                    return CountDecompressed(buffer.Span[..count]);
                }

                _part = Part.Trailer;
            }

            switch (Advance())
            {
                case Step.Ended:
                    return 0;
                case Step.NeedsMore:
                    Add(await _packed.ReadAsync(MakeRoom(), cancellationToken));
                    break;
                default:
                    break;
            }
        }

        return 0;
    }

    /// <inheritdoc/>
    public override Task<int> ReadAsync(byte[] buffer, int offset, int count, CancellationToken cancellationToken) =>
        ReadAsync(buffer.AsMemory(offset, count), cancellationToken).AsTask();

    /// <inheritdoc/>
    protected override void Dispose(bool disposing)
    {
        if (disposing)
        {
            _inflate?.Dispose();
            _feeder.Dispose();
            if (!_leavesOpen)
            {
                _packed.Dispose();
            }
        }

        base.Dispose(disposing);
    }

    private int CountDecompressed(ReadOnlySpan<byte> bytes)
    {
        _checksum = GzipChecksum.Append(_checksum, bytes);
        _length = unchecked(_length + (uint)bytes.Length);
        return bytes.Length;
    }

    /// <summary>
    /// Skips one part of a member other than its data: the magic number, a header field or the trailer.
    /// </summary>
    private Step Advance() =>
        _part switch
        {
            Part.Magic => SkipMagic(),
            Part.Header => SkipHeader(),
            _ => SkipTrailer(),
        };

    private Step SkipMagic()
    {
        const int FixedBytes = 10;
        const byte Deflate = 8;
        var bytes = _window.AsSpan(_start, _end - _start);
        if (bytes.IsEmpty && _isAtEnd)
        {
            // After a member, this is the end. Without any member the input is empty, which GZipStream accepts, too.
            return Step.Ended;
        }

        if (bytes.Length < FixedBytes && !_isAtEnd)
        {
            return Step.NeedsMore;
        }

        // The upper three bits of the flags are reserved and must be zero.
        if (bytes is not [0x1F, 0x8B, Deflate, var flags and <= 0x1F, ..] || bytes.Length < FixedBytes)
        {
            throw _isLaterMember && !bytes.StartsWith(Signature)
                ? new TrailingBytesException(_windowOffset + _start)
                : new InvalidDataException("The header of a gzip member is damaged or cut off.");
        }

        _headerFlags = flags;
        _bytesToSkip = 0;
        Skip(FixedBytes);
        _part = Part.Header;
        return Step.Done;
    }

    /// <summary>Skips the optional fields of a header, one in each call: extra, name, comment, checksum.</summary>
    private Step SkipHeader()
    {
        const byte HasChecksum = 2;
        const byte HasExtra = 4;
        const byte HasName = 8;
        const byte HasComment = 16;
        if (_bytesToSkip > 0)
        {
            int available = Math.Min(_bytesToSkip, _end - _start);
            Skip(available);
            _bytesToSkip -= available;
            return _bytesToSkip > 0 ? NeedMoreOfHeader() : Step.Done;
        }

        if ((_headerFlags & HasExtra) != 0)
        {
            if (_end - _start < sizeof(ushort))
            {
                return NeedMoreOfHeader();
            }

            _bytesToSkip = BinaryPrimitives.ReadUInt16LittleEndian(_window.AsSpan(_start));
            Skip(sizeof(ushort));
            _headerFlags ^= HasExtra;
            return Step.Done;
        }

        if ((_headerFlags & (HasName | HasComment)) != 0)
        {
            int zero = _window.AsSpan(_start, _end - _start).IndexOf((byte)0);
            Skip(zero >= 0 ? zero + 1 : _end - _start);
            if (zero < 0)
            {
                return NeedMoreOfHeader();
            }

            _headerFlags ^= (_headerFlags & HasName) != 0 ? HasName : HasComment;
            return Step.Done;
        }

        if ((_headerFlags & HasChecksum) != 0)
        {
            _bytesToSkip = sizeof(ushort);
            _headerFlags ^= HasChecksum;
            return Step.Done;
        }

        _inflate?.Dispose();
        _inflate = new DeflateStream(_feeder, CompressionMode.Decompress, leaveOpen: true);
        _checksum = 0;
        _length = 0;
        _lastRead = _start;
        _part = Part.Data;
        return Step.Done;
    }

    private Step NeedMoreOfHeader() =>
        !_isAtEnd ? Step.NeedsMore : throw new InvalidDataException("The header of a gzip member is cut off.");

    private Step SkipTrailer()
    {
        if (_end - _start < TrailerBytes + MagicBytes && !_isAtEnd)
        {
            return Step.NeedsMore;
        }

        Span<byte> trailer = stackalloc byte[TrailerBytes];
        BinaryPrimitives.WriteUInt32LittleEndian(trailer, _checksum);
        BinaryPrimitives.WriteUInt32LittleEndian(trailer[sizeof(uint)..], _length);
        int trailing = -1;
        for (int at = _lastRead; at <= _start && at + TrailerBytes <= _end; at++)
        {
            var following = _window.AsSpan(at, _end - at);
            if (!following.StartsWith(trailer))
            {
                continue;
            }

            following = following[TrailerBytes..];
            if (following.IsEmpty || following.StartsWith(Signature))
            {
                _start = at + TrailerBytes;
                _lastRead = _start;
                _isLaterMember = true;
                _part = Part.Magic;
                return Step.Done;
            }

            trailing = at + TrailerBytes;
        }

        throw trailing >= 0
            ? new TrailingBytesException(_windowOffset + trailing)
            : new InvalidDataException("The checksum of a gzip member is wrong or cut off.");
    }

    private void Skip(int bytes)
    {
        _start += bytes;
        _lastRead = _start;
    }

    /// <summary>
    /// Moves the bytes from <see cref="_lastRead"/> on to the start of the window. Returns the free bytes after them.
    /// </summary>
    private Memory<byte> MakeRoom()
    {
        _window.AsSpan(_lastRead, _end - _lastRead).CopyTo(_window);
        _windowOffset += _lastRead;
        _start -= _lastRead;
        _end -= _lastRead;
        _lastRead = 0;
        return _window.AsMemory(_end, Math.Min(ReadBytes, _window.Length - _end));
    }

    /// <summary>Counts bytes that were read into the window; none at the end of the input.</summary>
    private void Add(int count)
    {
        _end += count;
        _isAtEnd = count == 0;
    }

    /// <summary>The decompressor's input: the bytes of the window, then those of the input after them.</summary>
    private sealed class Feeder(GzipInputStream reader) : ReadOnlyStream
    {
        private bool IsWindowEmpty => reader._start == reader._end;

        public override int Read(Span<byte> buffer)
        {
            ForgetLastRead();
            if (IsWindowEmpty)
            {
                reader.Add(reader._packed.Read(reader.MakeRoom().Span));
            }

            return CopyFromWindow(buffer);
        }

        public override int Read(byte[] buffer, int offset, int count) => Read(buffer.AsSpan(offset, count));

        public override async ValueTask<int> ReadAsync(
            Memory<byte> buffer,
            CancellationToken cancellationToken = default
        )
        {
            ForgetLastRead();
            if (IsWindowEmpty)
            {
                reader.Add(await reader._packed.ReadAsync(reader.MakeRoom(), cancellationToken));
            }

            return CopyFromWindow(buffer.Span);
        }

        public override Task<int> ReadAsync(
            byte[] buffer,
            int offset,
            int count,
            CancellationToken cancellationToken
        ) => ReadAsync(buffer.AsMemory(offset, count), cancellationToken).AsTask();

        // The decompressor asks for more bytes, so the member does not end within those that it read last.
        private void ForgetLastRead() => reader._lastRead = reader._start;

        private int CopyFromWindow(Span<byte> buffer)
        {
            int count = Math.Min(buffer.Length, reader._end - reader._start);
            reader._window.AsSpan(reader._start, count).CopyTo(buffer);
            reader._lastRead = reader._start;
            reader._start += count;
            return count;
        }
    }
}
