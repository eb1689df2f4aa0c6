using System.Buffers;
using System.IO.Pipelines;
using Microsoft.AspNetCore.Http;
using Rookery.Documents.Parsing;
using Rookery.Platform;

namespace Rookery.Server.Raven;

/// <summary>How a body is used. This determines how much memory its request takes in total.</summary>
internal enum BodyUse
{
    /// <summary>The body becomes a command. Its memory is kept until the request is answered.</summary>
    Write,

    /// <summary>The body is one document, and becomes a command as in <see cref="Write"/>.</summary>
    Document,

    /// <summary>The body has one compare-exchange value, and becomes a command as in <see cref="Write"/>.</summary>
    CompareExchange,

    /// <summary>
    /// The body is a list of values, each of which becomes an object. Its memory is kept until the request is answered.
    /// </summary>
    Objects,
}

/// <summary>
/// A whole request body as one span: the pipe's own memory if the body is contiguous, otherwise a copy in pooled
/// memory. Dispose it once it is parsed.
/// </summary>
internal readonly struct RequestBody : IDisposable
{
    // Size limit of the first buffer. A larger Content-Length does not raise it: memory grows with the bytes that
    // arrive.
    private const int FirstBytes = 16 << 10;

    // A body of unknown length takes memory for 1 MiB first, and for the largest body once it is longer.
    private const int UnknownLengthBytes = 1 << 20;

    // Three bytes of JSON (an empty string and a comma) can become an object of 32 bytes and its slot in a list.
    private const int BytesPerByteOfObjects = 12;

    private readonly PipeReader? _reader;
    private readonly ReadOnlySequence<byte> _sequence;
    private readonly int _length;
    private readonly PooledMemory _copy;

    private RequestBody(PipeReader reader, in ReadOnlySequence<byte> sequence)
    {
        _reader = reader;
        _sequence = sequence;
    }

    private RequestBody(PooledMemory copy, int length, LargeRequests.Lease? lease)
    {
        _copy = copy;
        _length = length;
        Lease = lease;
    }

    /// <summary>
    /// The memory of the request if its body is large; null otherwise. It is released when the request is answered.
    /// </summary>
    public LargeRequests.Lease? Lease { get; }

    /// <summary>The bytes of the body; valid until <see cref="Dispose"/>.</summary>
    public ReadOnlySpan<byte> Span => _reader is not null ? _sequence.FirstSpan : _copy.Span[.._length];

    /// <summary>Reads the whole body.</summary>
    /// <param name="http">The request.</param>
    /// <param name="maxBytes">Length limit in bytes.</param>
    /// <param name="requests">Admits large bodies.</param>
    /// <param name="use">How the body is used.</param>
    /// <exception cref="RefusedException">The body is longer: 413. It is compressed: 415. There is no memory: 429. It
    /// is large and arrived too slowly: 408.</exception>
    public static ValueTask<RequestBody> ReadAsync(HttpContext http, int maxBytes, LargeRequests requests, BodyUse use)
    {
        RefuseEncoding(http);
        if (http.Request.ContentLength is { } announced && announced > maxBytes)
        {
            throw TooLarge(http, maxBytes, use);
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
            return GatherAsync(http, reader, maxBytes, requests, use);
        }

        return GatherFirstAsync(reading, http, reader, maxBytes, requests, use);
    }

    /// <summary>Refuses a body that is compressed: 415.</summary>
    public static void RefuseEncoding(HttpContext http)
    {
        if (
            http.Request.Headers.ContentEncoding is { Count: > 0 } encodings
            && encodings.ToString() is { Length: > 0 } encoding
            && !encoding.Equals("identity", StringComparison.OrdinalIgnoreCase)
        )
        {
            throw new RefusedException(
                StatusCodes.Status415UnsupportedMediaType,
                RavenType.NotSupported,
                $"Content-Encoding '{encoding}' is not supported on {http.Request.Path}; send the body as it "
                    + $"is. Only bulk_insert and import take gzip."
            );
        }
    }

    public void Dispose()
    {
        _reader?.AdvanceTo(_sequence.End);
        var copy = _copy;
        copy.Return();
    }

    private static async ValueTask<RequestBody> GatherFirstAsync(
        ValueTask<ReadResult> reading,
        HttpContext http,
        PipeReader reader,
        int maxBytes,
        LargeRequests requests,
        BodyUse use
    )
    {
        var read = await reading;
        reader.AdvanceTo(read.Buffer.Start);
        return await GatherAsync(http, reader, maxBytes, requests, use);
    }

    private static async ValueTask<RequestBody> GatherAsync(
        HttpContext http,
        PipeReader reader,
        int maxBytes,
        LargeRequests requests,
        BodyUse use
    )
    {
        int memoryFactor = use == BodyUse.Objects ? BytesPerByteOfObjects : LargeRequests.CopiesOfWrite;
        int initialBytes = (int)Math.Clamp(http.Request.ContentLength ?? 4096, 256, FirstBytes);
        var copy = PooledMemory.Rent(initialBytes);
        int length = 0;
        LargeRequests.Lease? lease = null;
        ReadOnlySequence<byte>? unread = null;
        try
        {
            while (true)
            {
                var read = await (lease is null ? reader.ReadAsync() : lease.ReadAsync(reader));
                unread = read.Buffer;
                if (read.IsCanceled)
                {
                    throw LargeRequests.TooSlow(http);
                }

                var bytes = read.Buffer;
                if (bytes.Length > maxBytes - length)
                {
                    throw TooLarge(http, maxBytes, use);
                }

                int newLength = length + (int)bytes.Length;
                if (
                    (long)newLength * memoryFactor > Math.Max(LargeRequests.BytesWithoutLease, lease?.Bytes ?? 0)
                    && http.Features.Get<MultiGetPart>() is null
                )
                {
                    lease ??= Begin(http, reader, requests);
                    long max =
                        http.Request.ContentLength
                        ?? (newLength <= UnknownLengthBytes ? Math.Min(UnknownLengthBytes, maxBytes) : maxBytes);
                    await lease.GrowAsync(Math.Max(max, newLength) * memoryFactor);
                }

                copy.Grow(
                    length,
                    newLength <= copy.Length ? newLength : Math.Min(maxBytes, Math.Max(newLength, 4 * copy.Length))
                );
                bytes.CopyTo(copy.Span[length..]);
                length = newLength;
                reader.AdvanceTo(bytes.End);
                unread = null;
                if (read.IsCompleted)
                {
                    lease?.Reading = null;
                    return new RequestBody(copy, length, lease);
                }
            }
        }
        catch (Exception failure)
        {
            lease?.Dispose();
            copy.Return();
            if (unread is { } bytes)
            {
                // Kestrel reads the rest of the body after the error is sent, but only after this read has ended.
                reader.AdvanceTo(bytes.End);
            }

            if (failure is OutOfMemoryException)
            {
                throw requests.CreateMemoryRefusal((long)length * memoryFactor);
            }

            throw;
        }
    }

    private static LargeRequests.Lease Begin(HttpContext http, PipeReader reader, LargeRequests requests)
    {
        var lease = requests.Begin(http);
        lease.Reading = reader;
        http.Response.RegisterForDispose(lease);
        return lease;
    }

    private static RefusedException TooLarge(HttpContext http, int maxBytes, BodyUse use) =>
        new(
            StatusCodes.Status413PayloadTooLarge,
            RavenType.BadRequest,
            use switch
            {
                BodyUse.Document => $"The document is larger than {Amount.Bytes(maxBytes)}, which is the limit, "
                    + "and was not stored. Split it into several documents.",
                BodyUse.CompareExchange =>
                    $"The compare-exchange value is larger than {Amount.Bytes(CompareExchangeValue.MaxBytes)}, which "
                        + "is the limit, and was not stored. Store a document, and its id in the value.",
                BodyUse.Write =>
                    $"The body of {http.Request.Method} {http.Request.Path} exceeds {Amount.Bytes(maxBytes)}; "
                        + "nothing of it was stored. Send less at once, or use bulk insert.",
                _ => $"The body of {http.Request.Method} {http.Request.Path} exceeds {Amount.Bytes(maxBytes)}; "
                    + "nothing was done. Send less at once.",
            }
        );
}
