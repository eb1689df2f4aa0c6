using Rookery.Documents.Stored;
using Rookery.Indexing.Mapping;
using Rookery.Scripting.Compiling;
using Rookery.Scripting.Syntax;

namespace Rookery.Indexing.Definitions;

/// <summary>A compiled map.</summary>
/// <param name="Source">The documents or counters that the map indexes.</param>
/// <param name="Program">The script. For a document or counter, it returns an object, an array of objects, or
/// nothing.</param>
/// <param name="Fields">The member names of these objects.</param>
public sealed record CompiledMap(MapSource Source, ScriptProgram Program, IReadOnlyList<string> Fields)
{
    /// <summary>The collection whose documents the map indexes; null for all.</summary>
    public string? Collection => Source.Collection;

    private readonly byte[]? _lowerCounter = Source.Counter is { } counter ? LowerNames.Counter(counter) : null;

    /// <summary>Whether the rows name further fields in the member <c>_</c>.</summary>
    public bool NamesFields { get; init; }

    /// <summary>The factor by which <c>boost</c> multiplies the scores of each field; 1 without it.</summary>
    public IReadOnlyDictionary<string, double> Factors { get; init; } =
        new Dictionary<string, double>(StringComparer.Ordinal);

    /// <summary>
    /// The same function in a form that runs without the script interpreter; null if the function needs the
    /// interpreter.
    /// </summary>
    internal PlainRow? Plain { get; init; }

    /// <summary>Returns whether the map indexes a counter.</summary>
    /// <param name="names">The names of the document's counters, at the counter.</param>
    internal bool Concerns(scoped CounterNames names)
    {
        Span<byte> room = stackalloc byte[LowerNames.RoomBytes];
        return _lowerCounter is null || LowerNames.Counter(names, room).SequenceEqual(_lowerCounter);
    }

    /// <summary>Finds members that the script adds to its rows; null if it cannot add any.</summary>
    internal AddedMembers? Added { get; init; }
}

/// <summary>A compiled reduce.</summary>
/// <param name="Key">The script that returns the reduce key of a row.</param>
/// <param name="KeyMembers">The members of the key, if the text writes it as an object.</param>
/// <param name="Row">The script that returns one row for an object with the members <c>key</c> and <c>values</c> (the
/// rows of the group).</param>
/// <param name="Fields">The member names of that row.</param>
internal sealed record CompiledReduce(
    ScriptProgram Key,
    IReadOnlyList<ReduceKeyMember> KeyMembers,
    ScriptProgram Row,
    IReadOnlyList<string> Fields
)
{
    /// <summary>
    /// These functions in a form that runs without the script interpreter; null if they need the interpreter.
    /// </summary>
    public PlainReduce? Plain { get; init; }

    /// <summary>The members of its rows that the reduce may read; null when unknown.</summary>
    public IReadOnlySet<string>? ReadMembers { get; init; }

    /// <summary>Whether the text is C# rather than JavaScript.</summary>
    public required bool IsCSharp { get; init; }

    /// <summary>Finds members that the script adds to its row; null if it cannot add any.</summary>
    public AddedMembers? Added { get; init; }
}

/// <summary>
/// Compiles the maps and reduces of static indexes, written in a subset of JavaScript or of C# with LINQ, to script
/// programs.
/// </summary>
internal static class IndexScript
{
    private const string AllDocuments = "@all_docs";

    /// <summary>
    /// Compiles a map: <c>map('Users', u => …)</c>, <c>from u in docs.Users …</c> or <c>docs.Users.…</c>. Declared
    /// functions may stand before <c>map</c>.
    /// </summary>
    /// <param name="text">The text.</param>
    /// <param name="sources">The additional sources of the index; null for none.</param>
    /// <exception cref="ScriptException">The text has a syntax error or uses something unsupported.</exception>
    public static CompiledMap CompileMap(string text, AdditionalSources? sources = null)
    {
        sources ??= AdditionalSources.None;
        string word = FirstWord(text, out int at);
        if (word is "from" && text.AsSpan(at + word.Length).TrimStart().StartsWith("("))
        {
            throw TokenCursor.NotSupported(
                "'from(…)'; a map is written \"map('Collection', document => ({ … }))\"",
                at
            );
        }

        bool isJavaScript = word is "map" or "function" || (word is "counters" && IsCallOfMap(text, at));
        var (input, source) = word switch
        {
            _ when isJavaScript => ParseJavaScriptMap(text, sources),
            "from" or "docs" or "counters" => new LinqParser(text).Queries.ParseMap(),
            "archivedMap" => throw TokenCursor.NotSupported("'archivedMap'", at),
            "const" or "let" or "var" => throw TokenCursor.NotSupported($"'{word}' before the map", at),
            "timeseries" => throw TokenCursor.NotSupported("indexes of time series", at),
            _ => throw new ScriptException(
                ScriptFault.Syntax,
                "A map begins with \"map('Collection', \", with 'from', with 'docs' or with 'counters'",
                at
            ),
        };
        if (input.Collection is "" || input.Counter is "")
        {
            throw new ScriptException(
                ScriptFault.Syntax,
                input.Counter is ""
                    ? "The map names a counter without a name, which no document has. Leave it out for all counters"
                    : "The map names a collection without a name, which no document has. For all documents, write "
                        + $"'{AllDocuments}'",
                at
            );
        }

        var found = ResultFields.Of(source.Statements);
        var fields = found.Names;
        return fields.Count > 0
            ? new CompiledMap(
                input.Collection is AllDocuments ? input with { Collection = null } : input,
                Compile(source, found),
                [.. fields.Where(static field => field is not NamedFieldWriter.Member)]
            )
            {
                NamesFields = fields.Contains(NamedFieldWriter.Member, StringComparer.Ordinal),
                Factors = found.Factors,
                Plain = PlainScript.ToRow(source),
                Added = isJavaScript ? AddedMembers.Of(sources.Before(text), fields) : null,
            }
            : throw new ScriptException(ScriptFault.Syntax, "The map returns no object with a member", at);
    }

    /// <summary>
    /// Compiles a reduce: <c>groupBy(x => …).aggregate(g => …)</c>, <c>from r in results group r by … into g …</c> or
    /// <c>results.GroupBy(…).Select(…)</c>.
    /// </summary>
    /// <param name="text">The text.</param>
    /// <param name="sources">The additional sources of the index; null for none.</param>
    /// <exception cref="ScriptException">The text has a syntax error or uses something unsupported.</exception>
    public static CompiledReduce CompileReduce(string text, AdditionalSources? sources = null)
    {
        sources ??= AdditionalSources.None;
        string word = FirstWord(text, out int at);
        bool isCSharp = word is "from" or "results";
        var (key, row) = word switch
        {
            "from" or "results" => new LinqParser(text).Queries.ParseReduce(),
            "groupBy" or "function" => ParseJavaScriptReduce(text, sources),
            "const" or "let" or "var" => throw TokenCursor.NotSupported($"'{word}' before the reduce", at),
            _ => throw new ScriptException(
                ScriptFault.Syntax,
                "A reduce begins with 'groupBy(', with 'from' or with 'results'",
                at
            ),
        };
        var found = ResultFields.Of(row.Statements);
        var fields = found.Names;
        if (fields.Contains(NamedFieldWriter.Member, StringComparer.Ordinal))
        {
            throw TokenCursor.NotSupported("fields that documents name (the member '_') in a reduce", at);
        }

        OneRowCheck.Require(row);
        var program = Compile(row, found);
        var keyProgram = Compile(key, null);
        foreach (int position in program.Boosts.Concat(keyProgram.Boosts))
        {
            throw TokenCursor.NotSupported("a boost in a reduce", position);
        }

        return program.LoadedCollections.Count + keyProgram.LoadedCollections.Count == 0
            ? new CompiledReduce(keyProgram, ReduceKeyMember.Of(key), program, fields)
            {
                Plain = PlainScript.ToReduce(key, row),
                ReadMembers = Definitions.ReadMembers.Of(sources.Before(text), isCSharp),
                IsCSharp = isCSharp,
                Added = isCSharp ? null : AddedMembers.Of(sources.Before(text), fields),
            }
            : throw TokenCursor.NotSupported("loading documents in a reduce", at);
    }

    private static ScriptProgram Compile(ScriptSource source, ResultFields? fields)
    {
        var program = ScriptEmitter.Compile(
            ScriptUse.Indexing,
            [source.Parameter],
            [.. source.Statements, .. source.Functions],
            fields?.Names ?? []
        );
        fields?.RequireAllBoosts(program);
        return program;
    }

    // In C#, a collection of counters may have the name 'map', but is not called.
    private static bool IsCallOfMap(string text, int at) =>
        text[(at + "counters".Length)..].Split('(', 2)[0].Split('.', StringSplitOptions.TrimEntries) is ["", "map"];

    private static (MapSource Input, ScriptSource Source) ParseJavaScriptMap(string text, AdditionalSources sources)
    {
        var (functions, whole) = ParseJavaScript(text, sources);
        return whole switch
        {
            CallExpression
            {
                Callee: NameExpression { Name: "map" },
                Arguments: [TextLiteral collection, LambdaExpression function]
            } => (new MapSource(collection.Text), ToSource(function, functions)),
            CallExpression
            {
                Callee: MemberExpression { Name: "map", Target: NameExpression { Name: "counters" } },
                Arguments: { Count: >= 1 and <= 3 } arguments
            }
                when arguments[^1] is LambdaExpression function
                    && arguments.SkipLast(1).All(static name => name is TextLiteral) => (
                new MapSource(
                    (arguments[0] as TextLiteral)?.Text,
                    IsOfCounters: true,
                    arguments.Count == 3 ? ((TextLiteral)arguments[1]).Text : null
                ),
                ToSource(function, functions)
            ),
            _ => throw new ScriptException(
                ScriptFault.NotSupported,
                "A map is written \"map('Collection', document => ({ … }))\" or \"counters.map('Collection', 'Name', "
                    + "counter => ({ … }))\", with nothing but declared functions before it and nothing after it",
                whole.Position
            ),
        };
    }

    private static (ScriptSource Key, ScriptSource Row) ParseJavaScriptReduce(string text, AdditionalSources sources)
    {
        var (functions, whole) = ParseJavaScript(text, sources);
        return
            whole
                is CallExpression
                {
                    Callee: MemberExpression
                    {
                        Name: "aggregate",
                        Target: CallExpression
                        {
                            Callee: NameExpression { Name: "groupBy" },
                            Arguments: [LambdaExpression key]
                        }
                    },
                    Arguments: [LambdaExpression row],
                }
            ? (ToSource(key, functions), ToSource(row, functions))
            : throw new ScriptException(
                ScriptFault.Syntax,
                "A reduce is written 'groupBy(row => …).aggregate(group => ({ … }))', with nothing but declared "
                    + "functions before it and nothing after it",
                whole.Position
            );
    }

    /// <summary>Returns whether a text of a map or reduce is C#.</summary>
    public static bool IsCSharp(string text)
    {
        string word = FirstWord(text, out int at);
        return word is "from" or "docs" or "results" || (word is "counters" && !IsCallOfMap(text, at));
    }

    /// <summary>Compiles functions without a map, to find what this server does not run.</summary>
    /// <returns>The functions.</returns>
    /// <exception cref="ScriptException">The text has a syntax error or uses something unsupported.</exception>
    public static IReadOnlyList<FunctionStatement> CompileFunctions(string text)
    {
        var parser = new JavaScriptParser(text);
        var functions = parser.Statements.ParseFunctions();
        parser.ExpectEnd();
        _ = ScriptEmitter.Compile(ScriptUse.Indexing, [], functions, []);
        return [.. functions.OfType<FunctionStatement>()];
    }

    private static (IReadOnlyList<Statement> Functions, Expression Whole) ParseJavaScript(
        string text,
        AdditionalSources sources
    )
    {
        var parser = new JavaScriptParser(text);
        IReadOnlyList<Statement> functions = [.. sources.CalledBy(text), .. parser.Statements.ParseFunctions()];
        var whole = parser.Expressions.ParseExpression();
        parser.Cursor.TryTake(";");
        parser.ExpectEnd();
        return (functions, whole);
    }

    private static ScriptSource ToSource(LambdaExpression function, IReadOnlyList<Statement> functions)
    {
        string parameter = function.Parameters is [var only]
            ? only
            : throw TokenCursor.NotSupported(
                $"a function of {function.Parameters.Count} parameters here",
                function.Position
            );
        return new ScriptSource(
            parameter,
            function.Value is { } value ? [new ReturnStatement(value, value.Position)] : function.Body!.Statements
        )
        {
            Functions = functions,
        };
    }

    /// <summary>
    /// Returns the last position of the blank or comment that begins at a position; a lower number if none begins
    /// there or a comment has no end.
    /// </summary>
    private static int EndOfBlankOrComment(string text, int start)
    {
        var remaining = text.AsSpan(start);
        if (remaining.StartsWith("//"))
        {
            return text.IndexOf('\n', start);
        }

        if (remaining.StartsWith("/*"))
        {
            return text.IndexOf("*/", start + "/*".Length, StringComparison.Ordinal) + 1;
        }

        return char.IsWhiteSpace(text[start]) || text[start] == '\uFEFF' ? start : -1;
    }

    /// <summary>Returns the first word of a text, after blanks and comments; empty when there is none.</summary>
    /// <param name="text">The text.</param>
    /// <param name="at">The position of the word.</param>
    private static string FirstWord(string text, out int at)
    {
        at = 0;
        while (at < text.Length)
        {
            int lastSkipped = EndOfBlankOrComment(text, at);
            if (lastSkipped < at)
            {
                break;
            }

            at = lastSkipped + 1;
        }

        int end = at;
        while (end < text.Length && char.IsAsciiLetter(text[end]))
        {
            end++;
        }

        return text[at..end];
    }
}
