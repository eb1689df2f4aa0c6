using System.CommandLine;
using System.Formats.Tar;
using System.IO.Compression;
using System.Net;
using System.Text;
using System.Text.Json;
using Rookery.Access;
using Rookery.Data;
using Rookery.Hosting;
using Rookery.Hosting.Logging;
using Rookery.Platform;
using Rookery.Terminal;

namespace Rookery.Support;

/// <summary>
/// `rookery debug-package`: fetches a file with diagnostic data of a node. `rookery debug-package show` prints such a
/// file.
/// </summary>
internal static class DebugPackageCommand
{
    private const int BufferBytes = 64 << 10;
    private const int MaxNameLength = 200;
    private const string Readme = "README.txt";
    private const string DefaultName = "rookery-debug.tar.gz";

    // Long, because the node examines its network for the package.
    private static readonly TimeSpan Timeout = TimeSpan.FromMinutes(2);

    public static Command Create()
    {
        var address = new NodeAddress();
        var to = new Option<string?>("--to")
        {
            Description = "The file to write [default: a file in the current directory, named by node and time].",
            HelpName = "FILE",
        };
        var command = address.AddTo(
            new Command(
                "debug-package",
                "Fetch a file with diagnostic data of a node for support: no documents, no secrets."
            )
            {
                to,
                CreateShow(),
            }
        );
        command.SetAction(
            (parsed, cancellation) =>
                address.UseAsync(
                    parsed,
                    (NodeConnection node) => FetchAsync(node, parsed.GetValue(to), address.IsJson(parsed), cancellation)
                )
        );
        return command;
    }

    private static Command CreateShow()
    {
        var file = new Argument<string>("FILE") { Description = "The debug package." };
        var part = new Argument<string?>("PART")
        {
            Description = "A file in the package, such as log.txt [default: describe the package and list its files].",
            Arity = ArgumentArity.ZeroOrOne,
        };
        var command = new Command("show", "Show a debug package, or one file of it.") { file, part };
        command.SetAction(
            (parsed, cancellation) =>
                Refusal.GuardAsync(() => ShowAsync(parsed.GetValue(file)!, parsed.GetValue(part), cancellation))
        );
        return command;
    }

    private static async Task<int> FetchAsync(
        NodeConnection node,
        string? to,
        bool isJson,
        CancellationToken cancellation
    )
    {
        // The path is checked before the request. A node builds one package at a time, so an abandoned package would
        // delay the next.
        string? named = to is null ? null : WritablePathOf(to);
        using var client = node.NewClient(Timeout);
        try
        {
            using var answer = await client.GetAsync(
                new Uri(node.Address, "/admin/node/debug-package"),
                HttpCompletionOption.ResponseHeadersRead,
                cancellation
            );
            if (answer.StatusCode != HttpStatusCode.OK)
            {
                throw new AdminException(
                    await ReasonAsync(node, answer, cancellation),
                    NodeClient.ExitCodeOfNodeCommand(answer.StatusCode)
                );
            }

            ForeignAnswer.RequireStream(answer, node.Address);
            string path = named ?? FreePathOf(answer.Content.Headers.ContentDisposition?.FileName);
            var body = await answer.Content.ReadAsStreamAsync(cancellation);
            long bytes = await SaveAsync(body, node.Address, path, cancellation);
            await Console.Error.WriteLineAsync(
                $"{Amount.Bytes(bytes)}. Check it with `rookery debug-package show {path}` before you "
                    + $"give it to others: it contains names and addresses of nodes, databases and indexes."
            );
            await Console.Out.WriteLineAsync(
                isJson ? $"{{\"File\":\"{JsonEncodedText.Encode(path)}\",\"Bytes\":{bytes}}}" : path
            );
            return ExitCode.Success;
        }
        catch (HttpRequestException failure)
        {
            throw new AdminException(node.Describe(failure), ExitCode.Failure);
        }
        catch (TaskCanceledException) when (!cancellation.IsCancellationRequested)
        {
            throw new AdminException(
                $"The node at {node.Address} did not answer within {Timeout.TotalSeconds:0} s.",
                ExitCode.Failure
            );
        }
    }

    private static string WritablePathOf(string to)
    {
        string path = Path.GetFullPath(to);
        if (Directory.Exists(path))
        {
            throw new AdminException($"{path} is a directory. Name a file with --to.", ExitCode.Configuration);
        }

        // The complete file is renamed to the path, which would delete a device such as /dev/null.
        if (SpecialFile.Is(path))
        {
            throw new AdminException($"{path} is a device or a pipe. Name a file with --to.", ExitCode.Configuration);
        }

        return path;
    }

    private static string FreePathOf(string? suggested)
    {
        string path = Path.GetFullPath(NameOf(suggested));
        if (Path.Exists(path))
        {
            throw new AdminException(
                $"{path} exists already. Name a file with --to; an existing one is replaced.",
                ExitCode.Configuration
            );
        }

        return path;
    }

    /// <summary>Saves the stream to a file that only its owner may read. An incomplete file is deleted.</summary>
    private static async Task<long> SaveAsync(Stream from, Uri address, string path, CancellationToken cancellation)
    {
        var disk = new PosixDisk();
        string partial = path + ".part";
        Remove(disk, partial);
        using var interruption = new Interruption(
            progress: null,
            () =>
            {
                Remove(disk, partial);
                return "The package is incomplete and was deleted. Run the same command again.";
            }
        );
        try
        {
            long bytes = 0;
            using (var file = disk.Open(partial, DiskOpen.CreateNew))
            {
                byte[] buffer = new byte[BufferBytes];
                int read = await ReadAsync(buffer);
                while (read > 0)
                {
                    file.Write(buffer.AsSpan(0, read), bytes);
                    bytes += read;
                    read = await ReadAsync(buffer);
                }

                file.Sync();
            }

            interruption.Dispose();
            disk.Rename(partial, path);
            Transfer.ExportDownload.SyncDirectoryOf(path);
            return bytes;
        }
        finally
        {
            Remove(disk, partial);
        }

        Task<int> ReadAsync(byte[] buffer) =>
            ResponseWait.BoundAsync(
                address,
                TimeProvider.System,
                token => from.ReadAsync(buffer, token).AsTask(),
                cancellation
            );
    }

    private static void Remove(PosixDisk disk, string path)
    {
        if (disk.Exists(path))
        {
            disk.Delete(path);
        }
    }

    /// <summary>
    /// Returns the file name that the node suggests if it has the expected form, otherwise a default name. The
    /// suggestion comes from another machine: it could be a path, or a file that a shell reads.
    /// </summary>
    internal static string NameOf(string? suggested)
    {
        string name = suggested?.Trim('"') ?? string.Empty;
        bool isPlain =
            name.StartsWith("rookery-debug-", StringComparison.Ordinal)
            && name.EndsWith(".tar.gz", StringComparison.Ordinal)
            && name.Length <= MaxNameLength
            && name.All(static letter => char.IsAsciiLetterOrDigit(letter) || letter is '-' or '_' or '.');
        return isPlain ? name : DefaultName;
    }

    private static async Task<string> ReasonAsync(
        NodeConnection node,
        HttpResponseMessage answer,
        CancellationToken cancellation
    )
    {
        byte[] body = await ForeignAnswer.ReadAsync(answer.Content, node.Address, cancellation);
        try
        {
            using var json = JsonDocument.Parse(body);
            return json.RootElement.GetProperty("Message").GetString() is { } message
                ? NodeSentence.ForCommandUser(message, node)
                : $"The node refused with status {(int)answer.StatusCode}.";
        }
        catch (Exception other) when (other is JsonException or KeyNotFoundException or InvalidOperationException)
        {
            return $"The server is not Rookery: it responded with status {(int)answer.StatusCode} without a message.";
        }
    }

    private static async Task<int> ShowAsync(string path, string? part, CancellationToken cancellation)
    {
        if (!File.Exists(path))
        {
            throw new AdminException($"There is no file {path}.", ExitCode.Configuration);
        }

        try
        {
            await using var file = File.OpenRead(path);
            await using var gzip = new GZipStream(file, CompressionMode.Decompress);
            await using var tar = new TarReader(gzip);
            return await ShowAsync(tar, path, part, Output.Stream, cancellation);
        }
        catch (Exception failure) when (failure is InvalidDataException or EndOfStreamException or FormatException)
        {
            throw new AdminException($"{path} is not a debug package, or is incomplete.", ExitCode.Failure);
        }
        catch (UnauthorizedAccessException denied)
        {
            throw new AdminException(denied.Message, ExitCode.Configuration);
        }
    }

    /// <summary>
    /// Writes one file of the archive, or the archive's description and list of files. Escapes control characters,
    /// because the archive may come from a stranger.
    /// </summary>
    internal static async Task<int> ShowAsync(
        TarReader tar,
        string path,
        string? part,
        Stream output,
        CancellationToken cancellation
    )
    {
        var sizes = new List<string>();
        string wantedName = part ?? Readme;
        bool isFound = false;
        while (await tar.GetNextEntryAsync(copyData: false, cancellation) is { } entry)
        {
            // All files are in one directory, named by node and time.
            string name = entry.Name[(entry.Name.IndexOf('/', StringComparison.Ordinal) + 1)..];
            if (string.Equals(name, wantedName, StringComparison.Ordinal))
            {
                isFound = true;
                if (entry.DataStream is { } content) // none for a file of 0 bytes
                {
                    await using var visible = new VisibleStream(output);
                    await content.CopyToAsync(visible, cancellation);
                }
            }

            sizes.Add($"{entry.Length, 12}  {VisibleText.OfLine(name)}");
        }

        if (!isFound)
        {
            throw new AdminException(
                part is null
                    ? $"{path} is an archive but not a debug package: it has no {Readme}."
                    : $"{path} has no file {part}. Its files:\n{string.Join('\n', sizes)}",
                ExitCode.Configuration
            );
        }

        if (part is null)
        {
            await output.WriteAsync(
                Encoding.UTF8.GetBytes($"\n{"BYTES", -12}  FILE\n{string.Join('\n', sizes)}\n"),
                cancellation
            );
        }

        return ExitCode.Success;
    }
}
