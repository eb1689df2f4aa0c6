using System.Buffers;
using System.IO.Pipelines;
using Microsoft.AspNetCore.Http;

namespace Rookery.Server.Raven;

/// <summary>A whole request body as one span: in place when it lies in one piece, otherwise copied to pooled memory. Dispose it when it is parsed.</summary>
internal readonly struct RequestBody : IDisposable
{
    // What is taken before anything came, whatever length the client announced: memory follows what it really sends.
    private const int FirstBytes = 64 << 10;

    private readonly PipeReader? _reader;
    private readonly ReadOnlySequence<byte> _sequence;
    private readonly byte[]? _copy;
    private readonly int _length;
    private readonly BodyMemory.Lease? _room;

    private RequestBody(PipeReader reader, in ReadOnlySequence<byte> sequence)
    {
        _reader = reader;
        _sequence = sequence;
    }

    private RequestBody(byte[] copy, int length, BodyMemory.Lease? room)
    {
        _copy = copy;
        _length = length;
        _room = room;
    }

    public ReadOnlySpan<byte> Span => _copy is null ? _sequence.FirstSpan : _copy.AsSpan(0, _length);

    /// <summary>Reads a body.</summary>
    /// <param name="http">The request.</param>
    /// <param name="maxBytes">What it may weigh at most.</param>
    /// <param name="memory">Where a large one finds room.</param>
    /// <param name="untilAnswered">Whether that room is kept until the request is answered, because a command as long as the body is made of it; otherwise until the body is disposed.</param>
    /// <exception cref="RefusedException">It is larger: 413. It is compressed: 415. There is no room: 429.</exception>
    public static ValueTask<RequestBody> ReadAsync(HttpContext http, int maxBytes, BodyMemory memory, bool untilAnswered = false)
    {
        if (http.Request.Headers.ContentEncoding is { Count: > 0 } encodings && encodings.ToString() is { Length: > 0 } encoding && !encoding.Equals("identity", StringComparison.OrdinalIgnoreCase))
        {
            throw new RefusedException(
                StatusCodes.Status415UnsupportedMediaType, RavenType.NotSupported, $"Content-Encoding '{encoding}' is not supported on {http.Request.Path}; send the body as it is. Only bulk_insert takes gzip.");
        }

        if (http.Request.ContentLength is { } announced && announced > maxBytes)
        {
            throw TooLarge(http, maxBytes);
        }

        var reader = http.Request.BodyReader;
        var reading = reader.ReadAsync();
        if (reading.IsCompletedSuccessfully)
        {
            var read = reading.Result;
            if (read.IsCompleted && read.Buffer.IsSingleSegment && read.Buffer.Length <= maxBytes)
            {
                return new ValueTask<RequestBody>(new RequestBody(reader, read.Buffer));
            }

            reader.AdvanceTo(read.Buffer.Start);
            return GatherAsync(http, reader, maxBytes, memory, untilAnswered);
        }

        return GatherFirstAsync(reading, http, reader, maxBytes, memory, untilAnswered);
    }

    public void Dispose()
    {
        _reader?.AdvanceTo(_sequence.End);
        if (_copy is not null)
        {
            ArrayPool<byte>.Shared.Return(_copy);
        }

        _room?.Dispose();
    }

    private static async ValueTask<RequestBody> GatherFirstAsync(
        ValueTask<ReadResult> reading, HttpContext http, PipeReader reader, int maxBytes, BodyMemory memory, bool untilAnswered)
    {
        var read = await reading;
        reader.AdvanceTo(read.Buffer.Start);
        return await GatherAsync(http, reader, maxBytes, memory, untilAnswered);
    }

    private static async ValueTask<RequestBody> GatherAsync(HttpContext http, PipeReader reader, int maxBytes, BodyMemory memory, bool untilAnswered)
    {
        byte[] copy = ArrayPool<byte>.Shared.Rent((int)Math.Clamp(http.Request.ContentLength ?? 4096, 256, Math.Min(maxBytes, FirstBytes)));
        int length = 0;
        BodyMemory.Lease? room = null;
        try
        {
            while (true)
            {
                var read = await reader.ReadAsync();
                var bytes = read.Buffer;
                if (bytes.Length > maxBytes - length)
                {
                    throw TooLarge(http, maxBytes);
                }

                int added = (int)bytes.Length;
                if (length + added > copy.Length)
                {
                    // In few steps, because the pool keeps what each leaves behind.
                    int wanted = Math.Max(length + added, (int)Math.Min(copy.Length * 4L, maxBytes));
                    if (wanted > FirstBytes)
                    {
                        room ??= Begin(http, memory, untilAnswered);
                        await room.GrowAsync(http, wanted);
                    }

                    copy = Grow(copy, length, wanted);
                }

                bytes.CopyTo(copy.AsSpan(length));
                length += added;
                reader.AdvanceTo(bytes.End);
                if (read.IsCompleted)
                {
                    return new RequestBody(copy, length, untilAnswered ? null : room);
                }
            }
        }
        catch
        {
            room?.Dispose();
            ArrayPool<byte>.Shared.Return(copy);
            throw;
        }
    }

    private static BodyMemory.Lease Begin(HttpContext http, BodyMemory memory, bool untilAnswered)
    {
        var room = memory.Begin();
        if (untilAnswered)
        {
            http.Response.RegisterForDispose(room);
        }

        return room;
    }

    private static byte[] Grow(byte[] bytes, int length, int wanted)
    {
        byte[] larger = ArrayPool<byte>.Shared.Rent(wanted);
        bytes.AsSpan(0, length).CopyTo(larger);
        ArrayPool<byte>.Shared.Return(bytes);
        return larger;
    }

    private static RefusedException TooLarge(HttpContext http, int maxBytes) => new(
        StatusCodes.Status413PayloadTooLarge,
        RavenType.BadRequest,
        $"The body of {http.Request.Method} {http.Request.Path} exceeds {maxBytes} bytes; nothing of it was stored. Send less at once, or use bulk insert.");
}
