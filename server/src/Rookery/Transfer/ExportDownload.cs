using System.Globalization;
using System.IO.Compression;
using Rookery.Access;
using Rookery.Data;
using Rookery.Hosting;
using Rookery.Platform;
using Rookery.Server.Transfer;
using Rookery.Terminal;

namespace Rookery.Transfer;

/// <summary>
/// `rookery export DB`: downloads the documents of a running node's database, one per line, in the form that an import
/// reads.
/// </summary>
internal static class ExportDownload
{
    /// <summary>Writes the documents to stdout, or to a file that appears only when it is complete.</summary>
    /// <param name="client">The node.</param>
    /// <param name="database">The database.</param>
    /// <param name="to">The file; null for stdout.</param>
    /// <param name="replaces">Whether to replace an existing file.</param>
    /// <param name="time">The clock that measures the time limits.</param>
    public static async Task<int> RunAsync(
        NodeClient client,
        string database,
        string? to,
        bool replaces,
        TimeProvider time
    )
    {
        if (to is not null && WhyNotWritable(Path.GetFullPath(to), replaces) is { } reason)
        {
            throw new AdminException(reason, ExitCode.Configuration);
        }

        if (to is not null && to.EndsWith(DumpDownload.Extension, StringComparison.OrdinalIgnoreCase))
        {
            return await DumpDownload.RunAsync(client, database, to, replaces, time);
        }

        var statistics = await ResponseWait.BoundBeginningAsync(
            client.Address,
            time,
            token => client.GetJsonAsync(HttpMethod.Get, $"{NodeClient.PathOf(database)}/stats", cancellation: token)
        );
        long expected = statistics.GetProperty("CountOfDocuments").GetInt64();
        using var answer = await ResponseWait.BoundBeginningAsync(
            client.Address,
            time,
            token => client.SendAsync(HttpMethod.Get, $"{NodeClient.PathOf(database)}/export", cancellation: token)
        );
        ForeignAnswer.RequireStream(answer, client.Address);
        using var progress = new Progress($"of about {Amount.Of(expected, "document")}", time);
        using var interruption = new Interruption(progress, () => DescribePartial(to, progress.Items, expected));
        if (to is null)
        {
            var shown = Tty.IsOutput ? Output.Visible : Output.Stream;
            long copied = await CopyAsync(client, database, answer, shown, progress, time);
            await Console.Error.WriteLineAsync($"{database}: {Amount.Of(copied, "document")}.");
            return await EndAsync(answer);
        }

        string path = Path.GetFullPath(to);
        long documents = await WriteFileAsync(
            path,
            replaces,
            async file =>
            {
                if (!path.EndsWith(".gz", StringComparison.OrdinalIgnoreCase))
                {
                    return await CopyAsync(client, database, answer, file, progress, time);
                }

                await using var packed = new GZipStream(file, CompressionLevel.Fastest, leaveOpen: true);
                return await CopyAsync(client, database, answer, packed, progress, time);
            }
        );
        await Console.Error.WriteLineAsync($"{database}: {Amount.Of(documents, "document")} in {path}.");
        return await EndAsync(answer);
    }

    /// <summary>Writes a file that appears under its name only when it is complete and durable.</summary>
    /// <param name="path">The full path.</param>
    /// <param name="replaces">Whether to replace an existing file.</param>
    /// <param name="write">Writes the content.</param>
    /// <exception cref="AdminException">The content or the file failed.</exception>
    internal static async Task<T> WriteFileAsync<T>(string path, bool replaces, Func<Stream, Task<T>> write)
    {
        string partial = path + ".part";
        T result;
        try
        {
            await using var file = OpenPart(partial);
            result = await write(file);
            await file.FlushAsync();
            SyncContent(partial);
        }
        catch (Exception failure) when (failure is AdminException or (IOException and not DirectoryNotFoundException))
        {
            // An incomplete file is useless, and a full disk needs the space.
            File.Delete(partial);
            throw failure is AdminException
                ? failure
                : new AdminException(
                    $"The export could not be written, and {DescribeTarget(path)}: {failure.Message}",
                    ExitCode.Failure
                );
        }
        catch (Exception failure) when (failure is UnauthorizedAccessException or DirectoryNotFoundException)
        {
            string reasonText =
                failure is DirectoryNotFoundException ? "there is no such directory"
                : Directory.Exists(partial) ? $"{partial} is a directory"
                : "permission denied";
            throw new AdminException($"{path} cannot be written: {reasonText}.", ExitCode.Configuration);
        }

        try
        {
            File.Move(partial, path, replaces);
            SyncDirectoryOf(path);
        }
        catch (Exception failure)
            when ((failure is IOException or UnauthorizedAccessException) && WhyNotWritable(path, replaces) is not null)
        {
            // The target appeared during the export. The partial file is kept, because the export took long.
            throw new AdminException(
                $"{WhyNotWritable(path, replaces)} The complete export is in {partial}: rename it, "
                    + $"because the next export to {path} deletes it.",
                ExitCode.Configuration
            );
        }

        return result;
    }

    /// <summary>Returns the exit code of an export whose documents are all written.</summary>
    /// <param name="leftOut">What the export leaves out.</param>
    internal static async Task<int> EndAsync(LeftOut leftOut)
    {
        if (leftOut.DescribeDefinitions() is { } definitions)
        {
            await Console.Error.WriteLineAsync($"Left out: {definitions}. A backup has them: `rookery backup`.");
        }

        return leftOut.DescribeData() is not { } data
            ? ExitCode.Success
            : await Refusal.WriteAsync(
                $"Left out: {data}. All documents were exported. A backup has everything: `rookery backup`.",
                ExitCode.Failure
            );
    }

    private static Task<int> EndAsync(HttpResponseMessage answer) =>
        EndAsync(
            new LeftOut(
                NumberIn(answer, ExportHeaders.LeftOutCounters) ?? 0,
                NumberIn(answer, ExportHeaders.LeftOutAttachments) ?? 0,
                NumberIn(answer, ExportHeaders.LeftOutRevisions) ?? 0,
                NumberIn(answer, ExportHeaders.LeftOutCompareExchange) ?? 0,
                NumberIn(answer, ExportHeaders.LeftOutIdentities) ?? 0,
                NumberIn(answer, ExportHeaders.LeftOutIndexes) ?? 0
            )
        );

    internal static string DescribePartial(string? to, long documents, long expected)
    {
        if (to is not null)
        {
            File.Delete(Path.GetFullPath(to) + ".part");
        }

        string result = to is null ? "the written data are incomplete" : DescribeTarget(to);
        return $"{Amount.Number(documents)} of about {Amount.Of(expected, "document")} were received; {result}. An "
            + "export cannot be resumed. Run the same command again.";
    }

    // The file itself is replaced only by a complete export.
    private static string DescribeTarget(string to) => Path.Exists(to) ? $"{to} is unchanged" : $"{to} was not created";

    /// <summary>Returns why an export cannot be written to a path; null if it can.</summary>
    private static string? WhyNotWritable(string path, bool replaces)
    {
        if (Directory.Exists(path))
        {
            return $"{path} is a directory. Name a file with --to.";
        }

        // The complete file is renamed to the path, so --replace would delete a device such as /dev/null.
        if (SpecialFile.Is(path))
        {
            return $"{path} is a device or a pipe. Name a file with --to, or omit it and redirect stdout.";
        }

        if (!replaces && Path.Exists(path))
        {
            return $"{path} exists already. Name another file with --to, or replace it with --replace.";
        }

        return null;
    }

    /// <summary>
    /// Creates the partial file with access for its owner only, because documents are confidential. An existing file or
    /// link of that name is deleted first.
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

    /// <summary>
    /// Writes a file to the disk before it is renamed. Otherwise the name could stand for an empty file after a power
    /// cut, and the file that it replaced would be lost.
    /// </summary>
    /// <exception cref="IOException">The disk failed.</exception>
    internal static void SyncContent(string path)
    {
        using var file = new PosixDisk().Open(path, DiskOpen.ReadWrite);
        file.Sync();
    }

    /// <summary>Makes the name of a file durable. Not all file systems can, and then its content alone is.</summary>
    internal static void SyncDirectoryOf(string path)
    {
        try
        {
            new PosixDisk().SyncDirectory(Path.GetDirectoryName(Path.GetFullPath(path))!);
        }
        catch (Exception unable) when (unable is IOException or UnauthorizedAccessException)
        {
            // The file is complete under its name in any case.
        }
    }

    /// <summary>Copies the documents and counts them.</summary>
    /// <exception cref="AdminException">The connection broke, or the number of documents is not the one that the node
    /// announced.</exception>
    private static async Task<long> CopyAsync(
        NodeClient client,
        string database,
        HttpResponseMessage answer,
        Stream output,
        Progress progress,
        TimeProvider time
    )
    {
        long documents = 0;
        long bytes = 0;
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
                $"{database}: received {Amount.Of(documents, "document")}, but the node announced "
                    + $"{CountOf(answer)}, so the export is incomplete. Export again; if that fails too, "
                    + $"check `rookery doctor` and the node's log.",
                ExitCode.Failure
            );
    }

    // Nodes of earlier versions do not announce the count.
    private static long? CountOf(HttpResponseMessage answer) => NumberIn(answer, ExportHeaders.Count);

    private static long? NumberIn(HttpResponseMessage answer, string header) =>
        answer.Headers.TryGetValues(header, out var values)
        && long.TryParse(values.First(), NumberStyles.None, CultureInfo.InvariantCulture, out long count)
            ? count
            : null;
}
