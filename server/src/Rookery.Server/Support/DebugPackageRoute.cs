using System.Formats.Tar;
using System.Globalization;
using System.IO.Compression;
using System.Text;
using Microsoft.AspNetCore.Http;
using Microsoft.AspNetCore.Routing;
using Rookery.Server.Access;
using Rookery.Server.Observation;

namespace Rookery.Server.Support;

/// <summary>
/// GET /admin/node/debug-package: a .tar.gz of text and JSON files for the diagnosis of this node. It works without
/// open data and without a leader. Each file is built when it is sent, and one package is sent at a time, so a package
/// takes the memory of its largest file. Secrets are removed from each file. A file that cannot be built contains the
/// error instead.
/// </summary>
internal static class DebugPackageRoute
{
    private const string ContentType = "application/gzip";

    public static void Map(IEndpointRouteBuilder routes, ServerContext context)
    {
        var building = new SemaphoreSlim(1);
        routes
            .MapWithoutData("/admin/node/debug-package", RouteScope.Admin, http => AnswerAsync(http, context, building))
            .OnAnyMember();
    }

    private static async Task AnswerAsync(HttpContext http, ServerContext context, SemaphoreSlim building)
    {
        http.Response.ContentType = ContentType;
        if (HttpMethods.IsHead(http.Request.Method))
        {
            return;
        }

        if (!await building.WaitAsync(TimeSpan.Zero, http.RequestAborted))
        {
            http.Response.Headers.RetryAfter = "5";
            await ErrorResponse.WriteAsync(
                http,
                StatusCodes.Status429TooManyRequests,
                ErrorResponse.RavenException,
                "Another debug package of this node is being built. Try again in a few seconds."
            );
            return;
        }

        try
        {
            string name = NameOf(context);
            http.Response.Headers.ContentDisposition = $"attachment; filename=\"{name}.tar.gz\"";
            http.Response.Headers.CacheControl = "no-store";
            await WriteAsync(http.Response.Body, context, name, http.RequestAborted);
        }
        finally
        {
            building.Release();
        }
    }

    private static string NameOf(ServerContext context)
    {
        string node = context.Options.NodeName.Length > 0 ? context.Options.NodeName : "node";
        string safe = string.Concat(
            node.Select(static letter => char.IsAsciiLetterOrDigit(letter) || letter is '-' ? letter : '_')
        );
        return $"rookery-debug-{safe}"
            + $"-{context.Time.GetUtcNow().ToString("yyyyMMdd-HHmmss", CultureInfo.InvariantCulture)}";
    }

    private static async Task WriteAsync(
        Stream to,
        ServerContext context,
        string name,
        CancellationToken cancellationToken
    )
    {
        await using var gzip = new GZipStream(to, CompressionLevel.Fastest, leaveOpen: true);
        await using var tar = new TarWriter(gzip, TarEntryFormat.Ustar, leaveOpen: true);
        DebugPart[] parts = [.. DebugParts.Of(context)];
        DebugPart[] all = [DebugPart.OfText("README.txt", string.Empty, () => Readme(context, parts)), .. parts];
        foreach (var part in all)
        {
            using var content = new MemoryStream();
            string file = part.Name;
            try
            {
                await part.WriteAsync(content, cancellationToken);
            }
            catch (Exception failure) when (failure is not OperationCanceledException)
            {
                // On a failing node any file can fail. The other files are still useful.
                content.SetLength(0);
                file += ".failed.txt";
                content.Write(Encoding.UTF8.GetBytes($"This file could not be built: {failure}\n"));
            }

            using var clean = new MemoryStream(
                Encoding.UTF8.GetBytes(
                    context.RecentLog.Secrets.Clean(
                        Encoding.UTF8.GetString(content.GetBuffer(), 0, (int)content.Length)
                    )
                )
            );
            await tar.WriteEntryAsync(
                new UstarTarEntry(TarEntryType.RegularFile, $"{name}/{file}")
                {
                    DataStream = clean,
                    ModificationTime = context.Time.GetUtcNow(),
                    Mode = UnixFileMode.UserRead | UnixFileMode.UserWrite,
                },
                cancellationToken
            );
        }
    }

    private static string Readme(ServerContext context, DebugPart[] parts)
    {
        var text = new StringBuilder();
        text.Append(
            CultureInfo.InvariantCulture,
            $"Debug package of a Rookery node, made {context.Time.GetUtcNow().UtcDateTime:u}, version "
                + $"{ProductVersion.Text}.\n\n"
        );
        text.Append(
            "It contains no documents, keys, tokens or passwords. It contains the names and addresses of nodes, "
                + "the names of databases and indexes and, if a card is damaged, the ids of the first and the last "
                + "damaged document.\n"
        );
        text.Append(
            "All files are text or JSON. `rookery debug-package show FILE` lists them, and shows one by its name.\n\n"
        );
        foreach (var part in parts)
        {
            text.Append(CultureInfo.InvariantCulture, $"{part.Name, -24} {part.About}\n");
        }

        return text.Append("\nA file whose name ends with .failed.txt has the reason why it could not be built.\n")
            .ToString();
    }
}
