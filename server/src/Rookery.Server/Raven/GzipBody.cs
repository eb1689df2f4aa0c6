using System.IO.Compression;
using System.IO.Pipelines;
using Microsoft.AspNetCore.Http;

namespace Rookery.Server.Raven;

/// <summary>
/// A body of any length that may be compressed with gzip. It is unpacked as it is read, some pages at a time, so that
/// it takes no more memory however far it grows.
/// </summary>
internal readonly struct GzipBody
{
    private readonly bool _isCompressed;

    private GzipBody(PipeReader reader, bool isCompressed)
    {
        Reader = reader;
        _isCompressed = isCompressed;
    }

    /// <summary>
    /// The bytes as they were before compression. A read throws <see cref="InvalidDataException"/> where the gzip is
    /// damaged or cut off.
    /// </summary>
    public PipeReader Reader { get; }

    /// <summary>Begins to read a body.</summary>
    /// <exception cref="RefusedException">It is in another encoding: 415.</exception>
    public static GzipBody Open(HttpContext http) =>
        http.Request.Headers.ContentEncoding.ToString().ToLowerInvariant() switch
        {
            "" or "identity" => new GzipBody(http.Request.BodyReader, isCompressed: false),
            "gzip" => new GzipBody(
                PipeReader.Create(new GZipStream(http.Request.Body, CompressionMode.Decompress)),
                isCompressed: true
            ),
            var other => throw new RefusedException(
                StatusCodes.Status415UnsupportedMediaType,
                RavenType.NotSupported,
                $"Content-Encoding '{other}' is not supported on {http.Request.Path}; send gzip, or the body as it is."
            ),
        };

    /// <summary>
    /// Gives pages and decompressor back. Not after a failure: a read may still be going on into those pages.
    /// </summary>
    public ValueTask CompleteAsync() => _isCompressed ? Reader.CompleteAsync() : ValueTask.CompletedTask;
}
