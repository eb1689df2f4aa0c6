using System.Globalization;
using System.Text.Json;
using Rookery.Access;
using Rookery.Data;
using Rookery.Hosting;
using Rookery.Hosting.Logging;
using Rookery.Indexes;
using Rookery.Platform;
using Rookery.Queries.Language;
using Rookery.Terminal;

namespace Rookery.Shell;

/// <summary>Executes statements and commands of the shell, and keeps the settings between them.</summary>
/// <param name="client">The node.</param>
/// <param name="database">The database's name.</param>
/// <param name="confirm">Asks the user before documents are changed: receives the consequence and the database's name;
/// null if the user has confirmed already.</param>
internal sealed class ShellSession(NodeClient client, string database, Action<string, string>? confirm)
{
    /// <summary>The maximum number of results on a terminal, of a query without <c>limit</c>.</summary>
    public const int DefaultRows = 100;

    private readonly SortedDictionary<string, JsonElement> _parameters = new(StringComparer.Ordinal);
    private bool _hasTimings;

    /// <summary>The database that statements use.</summary>
    public string Database { get; private set; } = database;

    /// <summary>Whether the user ended the shell.</summary>
    public bool HasEnded { get; private set; }

    /// <summary>Whether the node's own, possibly older state is enough.</summary>
    public bool IsLocal { get; init; }

    /// <summary>The form of results.</summary>
    public AnswerForm Form { get; set; } = AnswerForm.Table;

    /// <summary>The maximum number of results of a query without <c>limit</c>; null for all.</summary>
    public int? Rows { get; set; }

    /// <summary>Sets a parameter of the queries.</summary>
    public void Set(string name, JsonElement value) => _parameters[name] = value;

    /// <summary>Executes a statement. Reports a failure on stderr.</summary>
    /// <param name="statement">RQL without its semicolon, <c>delete</c> and a query, or a command.</param>
    /// <param name="cancellation">Stops the statement.</param>
    /// <returns>The exit code of a command that would do the same.</returns>
    public async Task<int> ExecuteAsync(string statement, CancellationToken cancellation)
    {
        int code = await Refusal.GuardAsync(async () =>
        {
            try
            {
                return await ForeignAnswer.GuardAsync(
                    () => client.Address,
                    () =>
                        statement.StartsWith('\\')
                            ? CommandAsync(statement, cancellation)
                            : QueryAsync(statement, cancellation)
                );
            }
            catch (OperationCanceledException) when (cancellation.IsCancellationRequested)
            {
                throw new AdminException("Stopped.", ExitCode.Interrupted);
            }
        });
        if (code == ExitCode.Failure)
        {
            // The next statement continues at another of the named nodes, if this one is away.
            await client.SwitchNodeAsync();
        }

        return code;
    }

    private async Task<int> QueryAsync(string statement, CancellationToken cancellation)
    {
        bool isDelete =
            statement.StartsWith("delete", StringComparison.OrdinalIgnoreCase)
            && statement.Length > "delete".Length
            && char.IsWhiteSpace(statement["delete".Length]);
        string text = isDelete ? statement["delete".Length..].Trim() : statement;
        var query = TryParse(text);
        var asked = new AskedQuery(
            NodeClient.PathOf(Database),
            text,
            [.. _parameters.Select(static parameter => (parameter.Key, parameter.Value))]
        );
        if (isDelete || query?.Update is not null)
        {
            string name = Database;
            return await new QueryChange(client, name, asked, isPatch: !isDelete).RunAsync(
                confirm is null ? null : consequence => confirm(consequence, name),
                cancellation
            );
        }

        asked = asked with
        {
            IsLocal = IsLocal,
            WantsTimings = _hasTimings,
            PageSize = query?.Limit is null ? Rows : null,
        };
        return Form == AnswerForm.Lines && !_hasTimings
            ? await AnsweredQuery.StreamAsync(client, asked, cancellation)
            : await AnsweredQuery.PrintAsync(client, asked, Form, cancellation);
    }

    /// <summary>Parses a query; null if it does not parse: the node reports the reason.</summary>
    private static Query? TryParse(string text)
    {
        try
        {
            return RqlParser.Parse(text);
        }
        catch (QueryException)
        {
            return null;
        }
    }

    private async Task<int> CommandAsync(string command, CancellationToken cancellation)
    {
        int space = command.AsSpan().IndexOfAny(' ', '\t');
        string name = space < 0 ? command : command[..space];
        string argument = space < 0 ? string.Empty : command[space..].Trim().TrimEnd(';');
        switch (name.TrimEnd(';'))
        {
            case @"\?" or @"\h":
                Output.Lines(ShellHelp.Lines);
                return ExitCode.Success;
            case @"\q":
                HasEnded = true;
                return ExitCode.Success;
            case @"\d" when argument.Length == 0:
                return await ListAsync(cancellation);
            case @"\d":
                return await DescribeAsync(argument, cancellation);
            case @"\l":
                Output.Write(DatabaseCommand.TableOf(await GetAsync("/databases", cancellation)));
                return ExitCode.Success;
            case @"\c" when argument.Length > 0:
                await GetAsync($"{NodeClient.PathOf(argument)}/stats", cancellation);
                Database = argument;
                return await SayAsync($"Statements use the database {argument}.");
            case @"\explain" when argument.Length > 0:
                var asked = new AskedQuery(
                    NodeClient.PathOf(Database),
                    argument,
                    [.. _parameters.Select(static parameter => (parameter.Key, parameter.Value))]
                )
                {
                    IsLocal = IsLocal,
                };
                return await AnsweredQuery.ExplainAsync(client, asked, isJson: false, cancellation);
            case @"\json":
                Form = Form == AnswerForm.Indented ? AnswerForm.Table : AnswerForm.Indented;
                return await SayAsync(Form == AnswerForm.Table ? "Results are tables." : "Results are JSON.");
            case @"\timing":
                _hasTimings = !_hasTimings;
                return await SayAsync(_hasTimings ? "Timings are printed." : "Timings are not printed.");
            case @"\rows":
                return await SetRowsAsync(argument);
            case @"\set":
                return await SetParameterAsync(argument);
            case @"\unset" when argument.Length > 0:
                return _parameters.Remove(argument.TrimStart('$'))
                    ? ExitCode.Success
                    : throw new AdminException($"There is no parameter ${argument.TrimStart('$')}.", ExitCode.NotFound);
            case @"\c" or @"\explain" or @"\unset":
                throw new AdminException($@"{name} needs an argument. \? shows which.", ExitCode.Configuration);
            default:
                throw new AdminException($@"{name} is no command. \? lists the commands.", ExitCode.Configuration);
        }
    }

    private async Task<int> SetRowsAsync(string argument)
    {
        if (argument.Length == 0)
        {
            Rows = null;
            return await SayAsync("All results are printed.");
        }

        if (!int.TryParse(argument, NumberStyles.None, CultureInfo.InvariantCulture, out int rows) || rows == 0)
        {
            throw new AdminException(
                $@"\rows takes a whole number from 1, not ""{argument}"".",
                ExitCode.Configuration
            );
        }

        Rows = rows;
        return await SayAsync($"At most {Amount.Of(rows, "result")} of a query without limit are printed.");
    }

    private async Task<int> SetParameterAsync(string argument)
    {
        if (argument.Length == 0)
        {
            Output.Lines(_parameters.Select(static parameter => $"${parameter.Key} = {parameter.Value.GetRawText()}"));
            return ExitCode.Success;
        }

        int end = argument.AsSpan().IndexOfAny(' ', '\t', '=');
        if (end <= 0)
        {
            throw new AdminException(@"\set needs a name and a value: \set least 5", ExitCode.Configuration);
        }

        var (name, value) = AskedQuery.ReadParameter($"{argument[..end]}={argument[(end + 1)..].Trim()}");
        Set(name, value);
        return await SayAsync($"${name} = {value.GetRawText()}");
    }

    private async Task<int> ListAsync(CancellationToken cancellation)
    {
        string path = NodeClient.PathOf(Database);
        var collections = await GetAsync($"{path}/collections/stats", cancellation);
        var statistics = await GetAsync($"{path}/indexes/stats", cancellation);
        var table = new Table("COLLECTION", ">DOCUMENTS");
        foreach (var collection in collections.GetProperty("Collections").EnumerateObject())
        {
            table.Add(collection.Name, Amount.Number(collection.Value.GetInt64()));
        }

        if (table.Rows == 0)
        {
            await SayAsync($"{Database} has no documents.");
        }
        else
        {
            Output.Write(table);
        }

        var indexes = await IndexCommand.ReadTableAsync(client, path, statistics, cancellation);
        if (indexes.Rows > 0)
        {
            Output.Line(string.Empty);
            Output.Write(indexes);
        }

        return ExitCode.Success;
    }

    private async Task<int> DescribeAsync(string name, CancellationToken cancellation)
    {
        var names = new NodeNames(client, cancellation);
        var collections = await names.CollectionsAsync(Database);
        string plain = name.Trim('\'', '"');
        if (collections.FirstOrDefault(other => IsSame(other, plain)) is { } collection)
        {
            var table = new Table("FIELD", "VALUES");
            foreach (var (path, type) in await names.FieldsAsync(Database, RqlNames.Quoted(collection)))
            {
                table.Add(path, type);
            }

            Output.Write(table);
            return await SayAsync($"Fields of the first {NodeNames.SampledDocuments} documents of {collection}.");
        }

        var answer = await client.GetJsonAsync(
            HttpMethod.Get,
            $"{NodeClient.PathOf(Database)}/indexes?name={Uri.EscapeDataString(plain)}",
            missing: $"{Database} has no collection and no index '{VisibleText.OfLine(plain)}'. \\d lists them.",
            cancellation: cancellation
        );
        Output.Visible.Write(Output.Bytes(answer.GetProperty("Results")[0], isIndented: true));
        return ExitCode.Success;
    }

    private Task<JsonElement> GetAsync(string path, CancellationToken cancellation) =>
        client.GetJsonAsync(HttpMethod.Get, path, cancellation: cancellation);

    private static async Task<int> SayAsync(string sentence)
    {
        await Console.Error.WriteLineAsync(sentence);
        return ExitCode.Success;
    }

    private static bool IsSame(string one, string other) =>
        string.Equals(one, other, StringComparison.OrdinalIgnoreCase);
}
