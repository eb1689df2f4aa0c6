using System.CommandLine;
using System.Security.Cryptography;
using Rookery.Access;
using Rookery.Hosting;
using Rookery.Platform;
using Rookery.Terminal;

namespace Rookery.Transfer;

/// <summary>`rookery import`: stores documents from a file or stdin in a database of a running node.</summary>
internal static class ImportCommand
{
    private const string Lines = "ndjson";
    private const string Json = "json";
    private const string Rows = "csv";
    private const string Dump = "ravendbdump";
    private const string Gzip = ".gz";

    private const string StoredTwice =
        "An import from a pipe cannot be resumed. If it is sent again, documents with ids are overwritten and those "
        + "without are stored twice.";

    public static Command Create()
    {
        var options = new Options();
        var command = options.Address.AddTo(
            new Command(
                "import",
                "Store the documents of a file: JSON objects on one or more lines or in an array, a table (.csv), "
                    + "or a dump of RavenDB (.ravendbdump); compressed or not."
            )
            {
                options.Database,
                options.File,
                options.Format,
                options.Collection,
                options.IdColumn,
                options.Infers,
                options.Separator,
                options.Resumes,
                options.Restarts,
            }
        );
        command.SetAction(
            (parsed, _) =>
                options.Address.WorkAsync(
                    parsed,
                    async client =>
                    {
                        try
                        {
                            return await RunAsync(client, options.Read(parsed), options.Address.IsJson(parsed));
                        }
                        catch (Exception stopped) when (stopped is ImportRefusedException or BadInputException)
                        {
                            throw Refuse(stopped);
                        }
                    }
                )
        );
        return command;
    }

    private static async Task<int> RunAsync(NodeClient client, ImportRequest request, bool isJson)
    {
        if (request.Format is Dump)
        {
            return await SendDumpAsync(client, request, isJson);
        }

        // Checked before the input is opened, because opening stdin waits for data.
        string history = await ReadHistoryAsync(client, request.Database);
        using var input = ImportInput.Open(request.File);
        using var progress = new Progress("documents", TimeProvider.System);
        var journal = Begin(request, history, input, out string? journalPath);
        progress.TotalBytes = input.Version?.Bytes;
        var upload = new ImportUpload(client, request.Database, TimeProvider.System, progress.Say);
        var import = new Import(upload, journal, journalPath, progress);
        using var interruption = new Interruption(
            progress,
            () => $"{DescribeStopped(import)}. {DescribeResume(request, import)}"
        );
        var source = Open(request, input);
        try
        {
            await import.RunAsync(source, () => input.CompressedBytesRead);
        }
        catch (Exception stopped)
            when ((stopped is AdminException or BadInputException or ImportRefusedException)
                && import.Result.Records > 0
            )
        {
            progress.Clear();
            var refusal = Refuse(stopped);
            string advice = stopped is BadInputException ? DescribeRestart(request) : DescribeResume(request, import);
            throw new AdminException(
                $"{refusal.Message} {DescribeStopped(import)} before that. {advice}",
                refusal.Code
            );
        }

        interruption.Dispose();
        progress.Clear();
        if (!string.Equals(history, await ReadHistoryAsync(client, request.Database), StringComparison.Ordinal))
        {
            throw new AdminException(
                $"{request.Database} was deleted and created again during the import, so the documents stored before "
                    + $"that are gone."
                    + (request.File is "-" ? " Send them again." : " Import them again with --restart."),
                ExitCode.Failure
            );
        }

        if (journalPath is not null)
        {
            File.Delete(journalPath);
        }

        if (isJson)
        {
            Output.Line(ToJson(import));
        }
        else
        {
            await Console.Error.WriteLineAsync($"{DescribeResult(import.Result)}.");
        }

        ReportLeftOut("values of the counters", import.WithoutCounters);
        ReportLeftOut("contents of the attachments", import.WithoutAttachments);
        return import.Result.Bad == 0 ? ExitCode.Success : ExitCode.BadInput;
    }

    private static async Task<int> SendDumpAsync(NodeClient client, ImportRequest request, bool isJson)
    {
        if (request.Resumes)
        {
            throw new AdminException(
                "A dump is imported whole, so --resume does not apply. Run the command without it: what is stored "
                    + "already is replaced.",
                ExitCode.Configuration
            );
        }

        await ReadHistoryAsync(client, request.Database); // before the input is opened, as opening stdin waits for data
        using var input = ImportInput.Open(request.File);
        using var progress = new Progress("documents", TimeProvider.System) { TotalBytes = input.Version?.Bytes };
        return await new DumpUpload(client, request.Database, input, progress).RunAsync(isJson);
    }

    // An export contains only the names of these.
    private static void ReportLeftOut(string what, long documents)
    {
        if (documents > 0)
        {
            Console.Error.WriteLine($"Left out: the {what} of {Amount.Of(documents, "document")}.");
        }
    }

    private static AdminException Refuse(Exception stopped) =>
        stopped switch
        {
            ImportRefusedException refused => refused.Refusal,
            BadInputException invalid => new AdminException(invalid.Message, ExitCode.BadInput),
            _ => (AdminException)stopped,
        };

    /// <summary>
    /// Reads the database's history id. A database that is created later under the same name has another history id.
    /// </summary>
    private static async Task<string> ReadHistoryAsync(NodeClient client, string database)
    {
        var statistics = await client.GetJsonAsync(HttpMethod.Get, $"{NodeClient.PathOf(database)}/stats");
        return statistics.GetProperty("DatabaseId"u8).GetString()!;
    }

    private static string DescribeResult(ImportJournal result)
    {
        string bad = result.Bad == 0 ? string.Empty : $", {Amount.Number(result.Bad)} {VerbFor(result.Bad)} not";
        return $"{Amount.Of(result.Stored, "document")} {VerbFor(result.Stored)} stored{bad}";
    }

    private static string VerbFor(long count) => count == 1 ? "was" : "were";

    /// <summary>Describes the result so far. Documents of a part without a response may be stored as well.</summary>
    private static string DescribeStopped(Import import) =>
        import.IsUnanswered ? $"At least {DescribeResult(import.Result)}" : DescribeResult(import.Result);

    /// <summary>Returns the command that continues the interrupted import.</summary>
    private static string DescribeResume(ImportRequest request, Import import)
    {
        if (request.File is "-")
        {
            return StoredTwice;
        }

        if (import.Result.Records == 0)
        {
            return "Run the same command again.";
        }

        if (!import.CanBeResumed)
        {
            return "The progress was not recorded, so start over: documents with ids are overwritten and those "
                + "without are stored twice.";
        }

        return "Run the same command with --resume to continue after them, or with --restart to start over.";
    }

    /// <summary>Returns what to do after input that cannot be read further. --resume accepts no other file.</summary>
    private static string DescribeRestart(ImportRequest request) =>
        request.File is "-"
            ? StoredTwice
            : "Get the whole file or correct it, and import it with --restart: documents with ids are overwritten and "
                + "those without are stored twice.";

    private static IRecordSource Open(ImportRequest request, ImportInput input) =>
        request.Format switch
        {
            Rows => new CsvSource(CsvSource.TextOf(input.Stream), request.Csv!),
            Lines when !JsonSource.Recognizes(input.Bytes) => new NdjsonSource(input.Bytes),
            _ => new JsonSource(input.Bytes),
        };

    /// <summary>Creates the journal of a new import or, with --resume, reads the journal of the last one.</summary>
    private static ImportJournal Begin(ImportRequest request, string history, ImportInput input, out string? path)
    {
        path = null;
        string seed = Convert.ToHexStringLower(RandomNumberGenerator.GetBytes(16));
        if (input.Version is not { } version)
        {
            return request.Resumes
                ? throw new AdminException(
                    "--resume needs a file, because an import from a pipe cannot be resumed.",
                    ExitCode.Configuration
                )
                : NewJournal(bytes: 0, ticks: 0);
        }

        path = Path.GetFullPath(request.File) + ImportJournal.Suffix;
        if (!ImportJournal.CanBeWritten(path))
        {
            Console.Error.WriteLine(
                $"{Path.GetDirectoryName(path)} is not writable, so this import cannot be resumed if it stops."
            );
            path = null;
        }

        var newJournal = NewJournal(version.Bytes, version.Modified.Ticks);
        if (!File.Exists(path) || request.Restarts)
        {
            return request.Resumes
                ? throw new AdminException(
                    $"There is no import of {request.File} to resume: "
                        + $"{request.File}{ImportJournal.Suffix} does not exist.",
                    ExitCode.Configuration
                )
                : newJournal;
        }

        var earlier = ImportJournal.Read(path);
        if (!request.Resumes)
        {
            throw new AdminException(
                $"An import of {request.File} into {earlier.Database} stopped after "
                    + $"{Amount.Of(earlier.Records, "record")}. Continue it with --resume, or start over with "
                    + $"--restart.",
                ExitCode.Configuration
            );
        }

        if (
            string.Equals(earlier.Database, request.Database, StringComparison.Ordinal)
            && earlier.History is not null
            && !string.Equals(earlier.History, history, StringComparison.Ordinal)
        )
        {
            throw new AdminException(
                $"{request.Database} was deleted and created again since that import stopped. "
                    + "Start over with --restart.",
                ExitCode.Configuration
            );
        }

        // Equal to the earlier journal if input, database and format are the same.
        var expected = newJournal with
        {
            History = earlier.History,
            Seed = earlier.Seed,
            Records = earlier.Records,
            Stored = earlier.Stored,
            Bad = earlier.Bad,
        };
        return earlier == expected
            ? earlier
            : throw new AdminException(
                $"The interrupted import had another input, database or format "
                    + $"({earlier.Database}, {earlier.Reading}). Start over with --restart.",
                ExitCode.Configuration
            );

        ImportJournal NewJournal(long bytes, long ticks) =>
            new()
            {
                Database = request.Database,
                History = history,
                InputBytes = bytes,
                InputTicks = ticks,
                Seed = seed,
                Reading = request.Reading,
            };
    }

    private static string ToJson(Import import) =>
        Clusters.JsonLine.Of(json =>
        {
            json.WriteNumber("Records"u8, import.Result.Records);
            json.WriteNumber("Stored"u8, import.Result.Stored);
            json.WriteNumber("Bad"u8, import.Result.Bad);
            WriteIfAny("WithoutCounters", import.WithoutCounters);
            WriteIfAny("WithoutAttachments", import.WithoutAttachments);

            void WriteIfAny(string name, long count)
            {
                if (count > 0)
                {
                    json.WriteNumber(name, count);
                }
            }
        });

    /// <summary>The options of an import.</summary>
    /// <param name="Database">The database.</param>
    /// <param name="File">A path, or - for stdin.</param>
    /// <param name="Format">One of ndjson, json, csv, ravendbdump.</param>
    /// <param name="Csv">How rows become documents; null for other formats.</param>
    /// <param name="Resumes">Whether to continue an interrupted import.</param>
    /// <param name="Restarts">Whether to start over despite an interrupted import.</param>
    private sealed record ImportRequest(
        string Database,
        string File,
        string Format,
        CsvOptions? Csv,
        bool Resumes,
        bool Restarts
    )
    {
        /// <summary>The options that determine which records the input contains, as text.</summary>
        public string Reading => Csv is null ? Format : $"{Format} {Csv}";
    }

    private sealed class Options
    {
        public Options() => Database = Data.DocumentArguments.Database(Address);

        public NodeAddress Address { get; } = new();

        public Argument<string> Database { get; }

        public Argument<string> File { get; } =
            new("FILE") { Description = "The file; - is stdin. gzip and Zstandard are decompressed." };

        public Option<string?> Format { get; } =
            new("--format")
            {
                Description =
                    "ndjson, json, csv or ravendbdump [default: from the file's name, without .gz, and its "
                    + "first bytes].",
                HelpName = "FORMAT",
            };

        public Option<string?> Collection { get; } =
            new("--collection")
            {
                Description = "The collection of a table's documents; required for csv.",
                HelpName = "NAME",
            };

        public Option<string?> IdColumn { get; } =
            new("--id-column")
            {
                Description = "The table's column with the ids [default: generate ids].",
                HelpName = "NAME",
            };

        public Option<bool> Infers { get; } =
            new("--infer")
            {
                Description =
                    "Store numbers, true, false and empty fields of a table as such [default: all as strings].",
            };

        public Option<string> Separator { get; } =
            new("--separator")
            {
                Description = "The character between the fields of a table; `tab` stands for a tab.",
                HelpName = "CHARACTER",
                DefaultValueFactory = static _ => ",",
            };

        public Option<bool> Resumes { get; } =
            new("--resume")
            {
                Description =
                    $"Continue an interrupted import of the same file, recorded in FILE{ImportJournal.Suffix}.",
            };

        public Option<bool> Restarts { get; } =
            new("--restart") { Description = "Start over instead of continuing an interrupted import." };

        public ImportRequest Read(ParseResult parsed)
        {
            string file = parsed.GetValue(File)!;
            string last = Path.GetFileName(file);
            string name = last.EndsWith(Gzip, StringComparison.OrdinalIgnoreCase) ? last[..^Gzip.Length] : last;
            string formatOfName =
                name.EndsWith(".csv", StringComparison.OrdinalIgnoreCase) ? Rows
                : name.EndsWith(".ravendbdump", StringComparison.OrdinalIgnoreCase) ? Dump
                : Lines;
            string format = parsed.GetValue(Format) ?? formatOfName;
            if (format is not (Lines or Json or Rows or Dump))
            {
                throw new AdminException(
                    $"--format must be {Lines}, {Json}, {Rows} or {Dump}, not \"{format}\".",
                    ExitCode.Configuration
                );
            }

            if (parsed.GetValue(Resumes) && parsed.GetValue(Restarts))
            {
                throw new AdminException(
                    "--resume continues an import and --restart starts over. Give one of them.",
                    ExitCode.Configuration
                );
            }

            string? collection = parsed.GetValue(Collection);
            bool hasTableOptions =
                collection is not null
                || parsed.GetValue(IdColumn) is not null
                || parsed.GetValue(Infers)
                || parsed.GetResult(Separator) is { Implicit: false };
            if (format is not Rows && hasTableOptions)
            {
                throw new AdminException(
                    $"--collection, --id-column, --infer and --separator are for tables, but {file} is read as "
                        + $"{(format is Lines ? "JSON" : format)}. "
                        + $"If it is a table, pass --format {Rows}.",
                    ExitCode.Configuration
                );
            }

            if (format is Rows && string.IsNullOrEmpty(collection))
            {
                throw new AdminException(
                    "Pass the collection of the table's documents by --collection, such as Users.",
                    ExitCode.Configuration
                );
            }

            string separator = parsed.GetValue(Separator)! is "tab" or "\\t" ? "\t" : parsed.GetValue(Separator)!;
            if (separator.Length != 1 || separator[0] is '"' or '\n' or '\r')
            {
                throw new AdminException(
                    $"--separator must be one character, not \"{separator}\".",
                    ExitCode.Configuration
                );
            }

            return new ImportRequest(
                Address.DatabaseOf(parsed.GetValue(Database)!),
                file,
                format,
                format is Rows
                    ? new CsvOptions(collection!, parsed.GetValue(IdColumn), parsed.GetValue(Infers), separator[0])
                    : null,
                parsed.GetValue(Resumes),
                parsed.GetValue(Restarts)
            );
        }
    }
}
