using System.Security.Cryptography;
using Microsoft.AspNetCore.Http;
using Rookery.Platform.Compression;

namespace Rookery.Server.Dashboard;

/// <summary>
/// A file of the dashboard, or the file with the texts of its manual. The executable contains it compressed with
/// Brotli, which nearly all browsers accept. For other clients the file is decompressed while it is sent.
/// </summary>
internal sealed class DashboardFile
{
    private const string ResourcePrefix = "dashboard/";
    private const int HashLength = 8;

    private readonly string _resource;
    private readonly string _contentType;
    private readonly string _tag;

    /// <summary>Reads a resource of this assembly once, to compute its ETag.</summary>
    /// <param name="resource">Name of the resource, which is compressed with Brotli.</param>
    /// <param name="contentType">The content type of the decompressed file.</param>
    public DashboardFile(string resource, string contentType)
    {
        _resource = resource;
        _contentType = contentType;
        using var content = Open();
        // A weak tag, because it identifies both encodings of the file.
        _tag = $"W/\"{Convert.ToHexStringLower(SHA256.HashData(content).AsSpan(0, HashLength))}\"";
    }

    /// <summary>
    /// Loads all embedded files, by path from the root without the leading slash; empty if the dashboard was not built.
    /// </summary>
    public static Dictionary<string, DashboardFile> LoadAll()
    {
        var files = new Dictionary<string, DashboardFile>(StringComparer.Ordinal);
        foreach (string name in typeof(DashboardFile).Assembly.GetManifestResourceNames())
        {
            // Resources that a build tool embedded for other purposes are not served.
            if (name.StartsWith(ResourcePrefix, StringComparison.Ordinal) && ContentTypeOf(name) is { } type)
            {
                files.Add(name[ResourcePrefix.Length..], new DashboardFile(name, type));
            }
        }

        return files;
    }

    /// <summary>
    /// Whether the name contains a hash of the content ("index-B1x2_y3Z.js"), so changed content has another name.
    /// </summary>
    public bool IsNamedByContent
    {
        get
        {
            var stem = Path.GetFileNameWithoutExtension(_resource.AsSpan());
            int hyphen = stem.Length - HashLength - 1;
            return hyphen > 0 && stem[hyphen] == '-';
        }
    }

    /// <summary>Sends the file, or 304 to a client that has it.</summary>
    /// <param name="http">The request.</param>
    /// <param name="vary">The request headers on which the response depends.</param>
    public async Task SendAsync(HttpContext http, string vary = "Accept-Encoding")
    {
        var headers = http.Response.Headers;
        headers.ETag = _tag;
        headers.Vary = vary;
        headers.CacheControl = IsNamedByContent ? "public, max-age=31536000, immutable" : "no-cache";
        if (http.Request.Headers.IfNoneMatch.ToString().Contains(_tag, StringComparison.Ordinal))
        {
            http.Response.StatusCode = StatusCodes.Status304NotModified;
            return;
        }

        http.Response.ContentType = _contentType;
        await using var content = Open();
        if (AcceptedCoding.Includes(http, "br"))
        {
            headers.ContentEncoding = "br";
            http.Response.ContentLength = content.Length;
            if (!HttpMethods.IsHead(http.Request.Method))
            {
                await content.CopyToAsync(http.Response.Body, http.RequestAborted);
            }
        }
        else if (!HttpMethods.IsHead(http.Request.Method))
        {
            await using var plain = new BrotliInputStream(content);
            await plain.CopyToAsync(http.Response.Body, http.RequestAborted);
        }
    }

    private static string? ContentTypeOf(string name) =>
        Path.GetExtension(name) switch
        {
            ".html" => "text/html; charset=utf-8",
            ".js" => "text/javascript; charset=utf-8",
            ".css" => "text/css; charset=utf-8",
            ".svg" => "image/svg+xml",
            ".png" => "image/png",
            ".woff2" => "font/woff2",
            ".webmanifest" => "application/manifest+json",
            _ => null,
        };

    private Stream Open() => typeof(DashboardFile).Assembly.GetManifestResourceStream(_resource)!;
}
