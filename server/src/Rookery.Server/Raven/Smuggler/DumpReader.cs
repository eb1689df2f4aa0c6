using System.Buffers;
using System.Text.Json;
using Microsoft.AspNetCore.Http;
using Rookery.Documents.Parsing;
using Rookery.Json;
using Rookery.Platform;

namespace Rookery.Server.Raven.Smuggler;

/// <summary>
/// Reads the JSON of a dump element by element, and the raw bytes between them, from a stream of any length. Holds one
/// element at a time.
/// </summary>
/// <param name="input">The decompressed dump.</param>
/// <param name="reserve">Called with the new length before the buffer grows beyond its first length.</param>
internal sealed class DumpReader(Stream input, Func<int, ValueTask> reserve) : IDisposable
{
    private const int FirstBytes = 32 << 10;
    private const int MaxNameBytes = 1024;
    private const int MaxBytes = DocumentLimits.MaxDocumentBytes + (64 << 10);

    private static readonly SearchValues<byte> ValueEnds = SearchValues.Create(",]} \t\r\n"u8);

    private byte[] _buffer = ArrayPool<byte>.Shared.Rent(FirstBytes);
    private int _start;
    private int _end;
    private long _offset; // of the buffer's first byte in the dump

    /// <summary>Position in the decompressed dump, for messages.</summary>
    public long Position => _offset + _start;

    /// <summary>Returns the next byte that is no white space, without taking it.</summary>
    public async ValueTask<byte> PeekAsync()
    {
        while (true)
        {
            int skipped = _buffer.AsSpan(_start, _end - _start).IndexOfAnyExcept(" \t\r\n"u8);
            if (skipped >= 0)
            {
                _start += skipped;
                return _buffer[_start];
            }

            _start = _end;
            await FillAsync();
        }
    }

    /// <summary>Takes one byte of punctuation.</summary>
    public async ValueTask TakeAsync(char expected)
    {
        byte next = await PeekAsync();
        if (next != expected)
        {
            throw Malformed($"'{expected}' was expected");
        }

        _start++;
    }

    /// <summary>Takes a comma, or the end of an object or a list.</summary>
    /// <returns>Whether a comma was taken.</returns>
    public async ValueTask<bool> TakeCommaOrAsync(char end)
    {
        byte next = await PeekAsync();
        if (next != ',' && next != end)
        {
            throw Malformed($"',' or '{end}' was expected");
        }

        _start++;
        return next == ',';
    }

    /// <summary>Takes the name of a section.</summary>
    public async ValueTask<string> TakeNameAsync()
    {
        if (await PeekAsync() != '"')
        {
            throw Malformed("a string was expected");
        }

        var text = await TakeValueAsync(MaxNameBytes);
        try
        {
            return Decode(text.Span);
        }
        catch (Exception malformed) when (malformed is JsonException or InvalidOperationException)
        {
            throw Malformed("a string is not valid");
        }
    }

    /// <summary>Takes a value whole. It is valid until the next call.</summary>
    /// <param name="maxBytes">Its maximum length.</param>
    public async ValueTask<ReadOnlyMemory<byte>> TakeValueAsync(int maxBytes = int.MaxValue)
    {
        byte first = await PeekAsync();
        var boundary = default(ElementBoundary);
        int scanned = 0;
        while (true)
        {
            int found = FindEnd(first, ref boundary, ref scanned);
            if (Math.Max(found, scanned) > maxBytes)
            {
                throw Malformed($"a name is longer than {maxBytes} bytes");
            }

            if (found >= 0)
            {
                var value = _buffer.AsMemory(_start, found);
                _start += found;
                return value;
            }

            await FillAsync();
        }
    }

    /// <summary>Takes raw bytes, piece by piece.</summary>
    /// <param name="count">Their number.</param>
    /// <param name="sink">Receives each piece, which is valid during the call.</param>
    public async ValueTask TakeRawAsync(long count, Func<ReadOnlyMemory<byte>, ValueTask> sink)
    {
        while (count > 0)
        {
            if (_start == _end)
            {
                await FillAsync();
            }

            int taken = (int)Math.Min(count, _end - _start);
            await sink(_buffer.AsMemory(_start, taken));
            _start += taken;
            count -= taken;
        }
    }

    /// <summary>Reads to the end of the input, where the checksum of a compressed dump is compared.</summary>
    public async ValueTask RequireEndAsync()
    {
        do
        {
            if (_buffer.AsSpan(_start, _end - _start).ContainsAnyExcept(" \t\r\n"u8))
            {
                throw Malformed("something follows its end");
            }

            _offset += _end;
            _start = 0;
            _end = await input.ReadAsync(_buffer);
        } while (_end > 0);
    }

    /// <summary>Returns the error for a dump with an unexpected form.</summary>
    public RefusedException Malformed(string what) =>
        RefusedException.BadRequest(
            $"The dump is not read further than byte {Position} of its JSON: {what}. What came before is stored; send "
                + "a whole dump."
        );

    /// <inheritdoc/>
    public void Dispose() => ArrayPool<byte>.Shared.Return(_buffer);

    private static string Decode(ReadOnlySpan<byte> json)
    {
        var reader = new Utf8JsonReader(json);
        reader.Read();
        return reader.GetString()!;
    }

    // Returns the length of the value if the buffer has all of it, otherwise -1.
    private int FindEnd(byte first, ref ElementBoundary boundary, ref int scanned)
    {
        var bytes = _buffer.AsSpan(_start, _end - _start);
        if (first is (byte)'{' or (byte)'[')
        {
            if (boundary.TryFind(bytes[scanned..], out int length))
            {
                return scanned + length;
            }

            scanned = bytes.Length;
            return -1;
        }

        if (first != (byte)'"')
        {
            int end = bytes[scanned..].IndexOfAny(ValueEnds);
            scanned = end < 0 ? bytes.Length : scanned + end;
            return end < 0 ? -1 : scanned;
        }

        scanned = Math.Max(scanned, 1);
        while (scanned < bytes.Length)
        {
            int next = bytes[scanned..].IndexOfAny((byte)'"', (byte)'\\');
            scanned = next < 0 ? bytes.Length : scanned + next;
            if (next >= 0 && bytes[scanned] == '"')
            {
                return scanned + 1;
            }

            if (scanned + 1 >= bytes.Length)
            {
                break; // the character after a backslash comes with the next bytes
            }

            scanned += 2;
        }

        return -1;
    }

    private async ValueTask FillAsync()
    {
        if (_start > 0)
        {
            _buffer.AsSpan(_start, _end - _start).CopyTo(_buffer);
            _offset += _start;
            (_start, _end) = (0, _end - _start);
        }

        if (_end == _buffer.Length)
        {
            if (_end >= MaxBytes)
            {
                throw new RefusedException(
                    StatusCodes.Status413PayloadTooLarge,
                    RavenType.BadRequest,
                    $"The element at byte {Position} of the dump is larger than "
                        + $"{Amount.Bytes(DocumentLimits.MaxDocumentBytes)}. What came before is stored."
                );
            }

            await reserve(2 * _buffer.Length);
            byte[] larger = ArrayPool<byte>.Shared.Rent(2 * _buffer.Length);
            _buffer.AsSpan(0, _end).CopyTo(larger);
            ArrayPool<byte>.Shared.Return(_buffer);
            _buffer = larger;
        }

        int read = await input.ReadAsync(_buffer.AsMemory(_end));
        if (read == 0)
        {
            throw Malformed("it ends early");
        }

        _end += read;
    }
}
