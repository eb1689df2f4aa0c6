using System.Globalization;
using System.IO.Compression;
using Rookery.Access;
using Rookery.Data;
using Rookery.Hosting;
using Rookery.Platform;
using Rookery.Terminal;

namespace Rookery.Transfer;

/// <summary>
/// `rookery export DB`: the documents of a running node's database, one a line, as an import reads them back.
/// </summary>
internal static class ExportDownload
{
    private const string CountHeader = "Rookery-Documents";

    /// <summary>Writes them to stdout, or to a file that appears when it is whole.</summary>
    /// <param name="client">The node.</param>
    /// <param name="database">Which of its databases.</param>
    /// <param name="to">The file; null for stdout.</param>
    /// <param name="replaces">Whether a file of that name goes for it.</param>
    /// <param name="time">What bounds the node's silence.</param>
    public static async Task<int> RunAsync(
        NodeClient client,
        string database,
        string? to,
        bool replaces,
        TimeProvider time
    )
    {
        if (to is not null && WhyNotTo(Path.GetFullPath(to), replaces) is { } reason)
        {
            throw new AdminException(reason, ExitCode.Configuration);
        }

        var statistics = await Silence.BoundAsync(
            client.Address,
            time,
            ends => client.GetJsonAsync(HttpMethod.Get, $"{NodeClient.PathOf(database)}/stats", cancellation: ends)
        );
        long expected = statistics.GetProperty("CountOfDocuments").GetInt64();
        using var answer = await Silence.BoundAsync(
            client.Address,
            time,
            ends => client.SendAsync(HttpMethod.Get, $"{NodeClient.PathOf(database)}/export", cancellation: ends)
        );
        using var progress = new Progress($"of about {Amount.Of(expected, "document")}", time);
        using var interruption = new Interruption(progress, () => WhatIsLeft(to, progress.Items, expected));
        if (to is null)
        {
            var shown = Tty.IsOutput ? Output.Visible : Output.Stream;
            long copied = await CopyAsync(client, database, answer, shown, progress, time);
            await Console.Error.WriteLineAsync($"{database}: {Amount.Of(copied, "document")}.");
            return ExitCode.Success;
        }

        string path = Path.GetFullPath(to);
        string partial = path + ".part";
        long documents;
        try
        {
            await using var file = OpenPart(partial);
            await using Stream output = path.EndsWith(".gz", StringComparison.OrdinalIgnoreCase)
                ? new GZipStream(file, CompressionLevel.Fastest, leaveOpen: true)
                : file;
            documents = await CopyAsync(client, database, answer, output, progress, time);
        }
        catch (Exception failure) when (failure is AdminException or IOException and not DirectoryNotFoundException)
        {
            // Nobody can use what is there of it, and a full disk needs the room.
            File.Delete(partial);
            throw failure is AdminException
                ? failure
                : new AdminException(
                    $"{path} cannot be written, and is not there: {failure.Message}",
                    ExitCode.Failure
                );
        }
        catch (Exception failure) when (failure is UnauthorizedAccessException or DirectoryNotFoundException)
        {
            string why =
                failure is DirectoryNotFoundException ? "there is no such directory"
                : Directory.Exists(partial) ? $"{partial} is a directory"
                : "permission denied";
            throw new AdminException($"{path} cannot be written: {why}.", ExitCode.Configuration);
        }

        try
        {
            File.Move(partial, path, replaces);
        }
        catch (Exception failure)
            when (failure is IOException or UnauthorizedAccessException && WhyNotTo(path, replaces) is not null)
        {
            // Since it began. What took so long is not thrown away for that.
            throw new AdminException(
                $"{WhyNotTo(path, replaces)} All that was exported lies in {partial}: give it a name of its "
                    + $"own, because the next export to {path} deletes it.",
                ExitCode.Configuration
            );
        }

        await Console.Error.WriteLineAsync($"{database}: {Amount.Of(documents, "document")} in {path}.");
        return ExitCode.Success;
    }

    private static string WhatIsLeft(string? to, long documents, long expected)
    {
        if (to is not null)
        {
            File.Delete(Path.GetFullPath(to) + ".part");
        }

        string came = $"{Amount.Number(documents)} of about {Amount.Of(expected, "document")} came";
        return $"{came}{(to is null ? ", and what was written is not whole" : $", and {to} is as it was")}. An "
            + $"export cannot be gone on with: give the same command again.";
    }

    /// <summary>Why an export cannot come to lie there; null where it can.</summary>
    private static string? WhyNotTo(string path, bool replaces) =>
        Directory.Exists(path) ? $"{path} is a directory. Name a file with --to."
        : !replaces && Path.Exists(path)
            ? $"There is {path} already. Name another file with --to, or let it go with --replace."
        : null;

    /// <summary>
    /// A new file for its owner's eyes: documents are no less secret there than in the node. What has its name goes
    /// first, also where it is a link to another file.
    /// </summary>
    internal static Stream OpenPart(string partial)
    {
        File.Delete(partial);
        return File.Open(
            partial,
            new FileStreamOptions
            {
                Mode = FileMode.CreateNew,
                Access = FileAccess.Write,
                UnixCreateMode = UnixFileMode.UserRead | UnixFileMode.UserWrite,
            }
        );
    }

    /// <summary>Copies the documents, and counts them.</summary>
    /// <exception cref="AdminException">It broke off, or there are not as many documents as the node said.</exception>
    private static async Task<long> CopyAsync(
        NodeClient client,
        string database,
        HttpResponseMessage answer,
        Stream output,
        Progress progress,
        TimeProvider time
    )
    {
        long documents = 0,
            bytes = 0;
        await Streamed.CopyAsync(
            answer,
            client.Address,
            output,
            part =>
            {
                documents += part.Span.Count((byte)'\n');
                bytes += part.Length;
                progress.Report(documents, bytes);
            },
            time
        );
        progress.Clear();
        return documents == (CountOf(answer) ?? documents)
            ? documents
            : throw new AdminException(
                $"{database}: {Amount.Of(documents, "document")} came, and the node had said "
                    + $"{CountOf(answer)}: this is no whole export. Export it again; if that gives the same, "
                    + $"`rookery doctor` and the node's log may say why.",
                ExitCode.Failure
            );
    }

    // A node of an earlier version does not say it.
    private static long? CountOf(HttpResponseMessage answer) =>
        answer.Headers.TryGetValues(CountHeader, out var values)
        && long.TryParse(values.First(), NumberStyles.None, CultureInfo.InvariantCulture, out long count)
            ? count
            : null;
}
