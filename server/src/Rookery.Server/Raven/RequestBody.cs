using System.Buffers;
using System.IO.Pipelines;
using Microsoft.AspNetCore.Http;
using Microsoft.AspNetCore.Server.Kestrel.Core;
using Microsoft.AspNetCore.Server.Kestrel.Core.Features;

namespace Rookery.Server.Raven;

/// <summary>A whole request body as one span: in place when it lies in one piece, otherwise copied to pooled memory. Dispose it when it is parsed.</summary>
internal readonly struct RequestBody : IDisposable
{
    // What is taken before anything came, whatever length the client announced: memory follows what it really sends.
    private const int FirstBytes = 64 << 10;

    // Larger arrays are left to the collector: the shared pool would keep them, and round them up to a power of two.
    private const int PooledBytes = 1 << 20;

    // A large body holds room that others wait for, so it must come within ten minutes.
    private const double LongestSeconds = 600;

    private readonly PipeReader? _reader;
    private readonly ReadOnlySequence<byte> _sequence;
    private readonly byte[]? _copy;
    private readonly int _length;
    private readonly bool _isRoomKept;

    private RequestBody(PipeReader reader, in ReadOnlySequence<byte> sequence)
    {
        _reader = reader;
        _sequence = sequence;
    }

    private RequestBody(byte[] copy, int length, BodyMemory.Lease? room, bool isRoomKept)
    {
        _copy = copy;
        _length = length;
        Room = room;
        _isRoomKept = isRoomKept;
    }

    /// <summary>The room of a large body; null for others.</summary>
    public BodyMemory.Lease? Room { get; }

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
            GiveBack(_copy);
        }

        if (!_isRoomKept)
        {
            Room?.Dispose();
        }
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
                    int most = (int)Math.Max(length + added, Math.Min(http.Request.ContentLength ?? maxBytes, maxBytes));
                    int wanted = Math.Min(most, Math.Max(length + added, copy.Length < PooledBytes ? copy.Length * 4 : most));
                    if (wanted > FirstBytes)
                    {
                        room ??= Begin(http, memory, untilAnswered);
                        await room.GrowAsync(http, http.Request.ContentLength is null ? wanted : most);
                    }

                    copy = Grow(copy, length, wanted);
                }

                bytes.CopyTo(copy.AsSpan(length));
                length += added;
                reader.AdvanceTo(bytes.End);
                if (read.IsCompleted)
                {
                    return new RequestBody(copy, length, room, untilAnswered);
                }
            }
        }
        catch (OutOfMemoryException)
        {
            room?.Dispose();
            GiveBack(copy);
            throw BodyMemory.NoRoom(http);
        }
        catch
        {
            room?.Dispose();
            GiveBack(copy);
            throw;
        }
    }

    private static BodyMemory.Lease Begin(HttpContext http, BodyMemory memory, bool untilAnswered)
    {
        if (http.Request.ContentLength is { } announced && http.Features.Get<IHttpMinRequestBodyDataRateFeature>() is { MinDataRate: { } rate } feature)
        {
            feature.MinDataRate = new MinDataRate(Math.Max(rate.BytesPerSecond, announced / LongestSeconds), rate.GracePeriod);
        }

        return untilAnswered ? memory.BeginUntilAnswered(http) : memory.Begin();
    }

    private static byte[] Grow(byte[] bytes, int length, int wanted)
    {
        byte[] larger = wanted > PooledBytes ? GC.AllocateUninitializedArray<byte>(wanted) : ArrayPool<byte>.Shared.Rent(wanted);
        bytes.AsSpan(0, length).CopyTo(larger);
        GiveBack(bytes);
        return larger;
    }

    private static void GiveBack(byte[] bytes)
    {
        if (bytes.Length <= PooledBytes)
        {
            ArrayPool<byte>.Shared.Return(bytes);
        }
    }

    private static RefusedException TooLarge(HttpContext http, int maxBytes) => new(
        StatusCodes.Status413PayloadTooLarge,
        RavenType.BadRequest,
        $"The body of {http.Request.Method} {http.Request.Path} exceeds {maxBytes} bytes; nothing of it was stored. Send less at once, or use bulk insert.");
}
