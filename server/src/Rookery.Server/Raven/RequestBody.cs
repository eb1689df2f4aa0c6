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

    private RequestBody(PipeReader reader, in ReadOnlySequence<byte> sequence)
    {
        _reader = reader;
        _sequence = sequence;
    }

    private RequestBody(byte[] copy, int length)
    {
        _copy = copy;
        _length = length;
    }

    public ReadOnlySpan<byte> Span => _copy is null ? _sequence.FirstSpan : _copy.AsSpan(0, _length);

    /// <summary>Reads a body.</summary>
    /// <param name="http">The request.</param>
    /// <param name="maxBytes">What it may weigh at most.</param>
    /// <exception cref="RefusedException">It is larger: 413. It is compressed: 415.</exception>
    public static ValueTask<RequestBody> ReadAsync(HttpContext http, int maxBytes)
    {
        if (http.Request.Headers.ContentEncoding.ToString() is { Length: > 0 } encoding && !encoding.Equals("identity", StringComparison.OrdinalIgnoreCase))
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
            return GatherAsync(http, reader, maxBytes);
        }

        return GatherFirstAsync(reading, http, reader, maxBytes);
    }

    public void Dispose()
    {
        _reader?.AdvanceTo(_sequence.End);
        if (_copy is not null)
        {
            ArrayPool<byte>.Shared.Return(_copy);
        }
    }

    private static async ValueTask<RequestBody> GatherFirstAsync(ValueTask<ReadResult> reading, HttpContext http, PipeReader reader, int maxBytes)
    {
        var read = await reading;
        reader.AdvanceTo(read.Buffer.Start);
        return await GatherAsync(http, reader, maxBytes);
    }

    private static async ValueTask<RequestBody> GatherAsync(HttpContext http, PipeReader reader, int maxBytes)
    {
        byte[] copy = ArrayPool<byte>.Shared.Rent((int)Math.Clamp(http.Request.ContentLength ?? 4096, 256, Math.Min(maxBytes, FirstBytes)));
        int length = 0;
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
                    copy = Grow(copy, length, length + added, maxBytes);
                }

                bytes.CopyTo(copy.AsSpan(length));
                length += added;
                reader.AdvanceTo(bytes.End);
                if (read.IsCompleted)
                {
                    return new RequestBody(copy, length);
                }
            }
        }
        catch
        {
            ArrayPool<byte>.Shared.Return(copy);
            throw;
        }
    }

    // In few steps, because the pool keeps what each leaves behind.
    private static byte[] Grow(byte[] bytes, int length, int wanted, int maxBytes)
    {
        byte[] larger = ArrayPool<byte>.Shared.Rent(Math.Max(wanted, (int)Math.Min(bytes.Length * 4L, maxBytes)));
        bytes.AsSpan(0, length).CopyTo(larger);
        ArrayPool<byte>.Shared.Return(bytes);
        return larger;
    }

    private static RefusedException TooLarge(HttpContext http, int maxBytes) => new(
        StatusCodes.Status413PayloadTooLarge,
        RavenType.BadRequest,
        $"The body of {http.Request.Method} {http.Request.Path} exceeds {maxBytes} bytes; nothing of it was stored. Send less at once, or use bulk insert.");
}
