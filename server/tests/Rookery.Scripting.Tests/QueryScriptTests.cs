using Rookery.Documents.Stored;
using Rookery.Fixtures;
using Rookery.Scripting.Compiling;
using Rookery.Scripting.Running;
using Rookery.Scripting.Syntax;
using static Rookery.Fixtures.Utf8Text;

namespace Rookery.Scripting.Tests;

/// <summary>Scripts of queries, which consist of several parts.</summary>
public class QueryScriptTests
{
    // Each part has a position of its own in the query, so that the position of an error shows its part.
    private static readonly QueryScript Query = new()
    {
        Alias = "u",
        Functions =
        [
            new ScriptDeclaration("twice", ["a"], new ScriptPart("return a * 2", 1000)),
            new ScriptDeclaration("shifted", ["a"], new ScriptPart("return twice(a) + $by + args.by", 2000)),
            new ScriptDeclaration("hidden", ["args"], new ScriptPart("return args + $by", 3000)),
        ],
        Definitions =
        [
            new ScriptDefinition("f", new ScriptPart("load(this.friend)", 4000)),
            new ScriptDefinition("g", new ScriptPart("load(f.friend)", 5000)),
        ],
    };

    [Theory]
    [InlineData("u.n", "5")]
    [InlineData("this.n + u.n", "10")]
    [InlineData("twice(u.n)", "10")]
    [InlineData("shifted(u.n)", "24")]
    [InlineData("hidden(1)", "8")]
    [InlineData("[1].map(args => args + $by)", "[8]")]
    [InlineData("[1].map(x => shifted(x))", "[16]")]
    [InlineData("{ f: f.n, g: g.n, same: g.n == u.n }", """{"f":6,"g":5,"same":true}""")]
    [InlineData("load(['b', 'a', 'none', null, 1]).map(x => x ? x.n : x)", "[6,5,null,null,null]")]
    public void Names_of_all_parts_can_be_used(string expression, string value) =>
        Assert.Equal(value, Select(expression));

    [Theory]
    [InlineData("v.n", ScriptFault.NotSupported, 70)]
    [InlineData("twice.n", ScriptFault.NotSupported, 70)]
    [InlineData("u.n +", ScriptFault.Syntax, 75)]
    [InlineData("u.n; 1", ScriptFault.Syntax, 73)]
    [InlineData("u.n 'a", ScriptFault.Syntax, 74)]
    [InlineData("g = 1", ScriptFault.Syntax, 70)]
    public void Positions_are_offsets_in_the_query(string expression, ScriptFault fault, int position)
    {
        var refusal = Assert.Throws<ScriptException>(() => Query.CompileSelection(new ScriptPart(expression, 70)));
        Assert.Equal((fault, position), (refusal.Fault, refusal.Position));
    }

    [Fact]
    public void Errors_of_functions_and_definitions_have_their_position()
    {
        Assert.Equal(
            1007,
            Refusal(
                Query with
                {
                    Functions = [new ScriptDeclaration("f", Parameters: [], new ScriptPart("return v", 1000))],
                }
            ).Position
        );
        Assert.Equal(1000, Refusal(Query with { Functions = [Query.Functions[0], Query.Functions[0]] }).Position);
        Assert.Equal(4000, Refusal(Query with { Definitions = [Query.Definitions[0], Query.Definitions[0]] }).Position);
        Assert.Contains(
            "'args' is named twice",
            Refusal(Query with { Alias = "args" }).Message,
            StringComparison.Ordinal
        );

        static ScriptException Refusal(QueryScript query) =>
            Assert.Throws<ScriptException>(() => query.CompileSelection(new ScriptPart("1", 0)));
    }

    [Fact]
    public void An_update_changes_the_document_under_both_of_its_names_and_may_load_others()
    {
        var program = Query.CompileUpdate(
            new ScriptPart("u.n = twice(this.n); this.by = $by", 0),
            changesMetadata: false
        );
        using var interpreter = new ScriptInterpreter();
        interpreter.Load(program);
        Begin(interpreter);
        Assert.True(
            interpreter.TryRun()
                && interpreter.TryWriteParameter(index: 0, out var json)
                && Text(json) is """{"n":10,"friend":"b","by":7}""",
            interpreter.Failure
        );
        Assert.False(program.ReachesDocuments);
        Assert.True(Query.CompileUpdate(new ScriptPart("u.n = load('a')", 9), changesMetadata: false).ReachesDocuments);
    }

    /// <summary>A run reserves its memory beyond a small amount. The next run reserves it again.</summary>
    [Fact]
    public void Memory_is_reserved_before_it_is_used()
    {
        // The memory source grants up to 300,000 bytes, and later only 10,000.
        long reservedBytes = 0;
        long maxBytes = 300_000;
        using var interpreter = new ScriptInterpreter { MemorySource = bytes => (reservedBytes += bytes) <= maxBytes };
        var program = new QueryScript().CompileSelection(new ScriptPart("'x'.repeat($by)", 0));
        Assert.Equal((true, 0), (TryRun(1000), reservedBytes));
        Assert.Equal((true, true), (TryRun(90_000), reservedBytes >= 20_000));
        reservedBytes = 0;
        Assert.Equal((true, true), (TryRun(90_000), reservedBytes >= 20_000));
        reservedBytes = 0;
        maxBytes = 10_000;
        Assert.False(TryRun(90_000));
        Assert.Contains("more memory than there is", interpreter.Failure, StringComparison.Ordinal);

        bool TryRun(int count)
        {
            interpreter.Trim();
            interpreter.Load(program);
            interpreter.Begin();
            interpreter.AddDocument(new DocumentView(StoredExample.Store("a", "{}")).ToScript());
            interpreter.AddJson(Bytes($$"""{"by":{{count}}}"""));
            return interpreter.TryRun() && interpreter.TryWriteResult(out _);
        }
    }

    private static string Select(string expression)
    {
        using var interpreter = new ScriptInterpreter { Documents = new Friends() };
        interpreter.Load(Query.CompileSelection(new ScriptPart(expression, 70)));
        Begin(interpreter);
        return Scripts.RunAndWrite(interpreter);
    }

    private static void Begin(ScriptInterpreter interpreter)
    {
        interpreter.Begin();
        interpreter.AddDocument(new DocumentView(StoredExample.Store("a", """{"n":5,"friend":"b"}""")).ToScript());
        interpreter.AddJson("""{"by":7}"""u8);
    }

    /// <summary>Documents a and b, each the other's friend.</summary>
    private sealed class Friends : IScriptDocuments
    {
        public void Load(ReadOnlySpan<byte> id, ScriptDocumentReceiver receiver)
        {
            if (Text(id) is var name && name is ("a" or "b"))
            {
                string json = name is "a" ? """{"n":5,"friend":"b"}""" : """{"n":6,"friend":"a"}""";
                receiver(new DocumentView(StoredExample.Store(name, json)).ToScript());
            }
        }
    }
}
