using System.Text.Json;
using Rookery.Documents.Commands;
using Rookery.Documents.Consensus;
using Rookery.Documents.Nodes;
using Rookery.Documents.Patching;
using Rookery.Documents.Stored;
using Rookery.Documents.Tests.Nodes;
using Rookery.Documents.Tests.Stored;
using Rookery.Json;
using Rookery.Simulation;
using static Rookery.Documents.Tests.Parsing.ParsedExample;

namespace Rookery.Documents.Tests.Patching;

/// <summary>
/// Scripts with conditions, loops and expressions, which are compiled into the command. Scripts that only assign values
/// have an older, simple form, which versions before scripts can apply.
/// </summary>
public class CompiledPatchTests
{
    [Fact]
    public void Below_its_format_level_only_simple_scripts_are_written()
    {
        Assert.False(TryParse("this.n++", FormatLevel.Oldest, out _, out var error));
        Assert.Equal(InputErrorKind.NotSupported, error.Kind);
        Assert.Contains("finalize-upgrade", error.What, StringComparison.Ordinal);
        Assert.True(TryParse("this.n++", FormatLevel.Scripts, out var compiled, out _));
        Assert.Equal(ProgramKind.Compiled, KindOf(compiled));

        // A script that older versions could run gets an unchanged form, at every format level.
        Assert.True(TryParse("this.n = args.v", FormatLevel.Scripts, out var simple, out _));
        Assert.Equal(ProgramKind.Script, KindOf(simple));
    }

    [Fact]
    public void A_script_keeps_metadata_and_reports_when_nothing_changed()
    {
        using var evaluator = new PatchEvaluator();
        var stored = new DocumentView(
            StoredDocumentTests.Store("""{"n":1,"@metadata":{"k":1,"@collection":"Users"}}""", "x")
        );
        Assert.True(
            TryParse("this.n++; this.c = getMetadata(this)['@collection']", FormatLevel.Scripts, out var command, out _)
        );
        Assert.Equal(PatchStatus.Patched, evaluator.Apply(ProgramOf(command), stored));
        Assert.Equal("Users", Text(evaluator.Collection));
        Assert.EndsWith("\"k\":1\"n\":2,\"c\":\"Users\"", Text(evaluator.Content), StringComparison.Ordinal);
        Assert.True(TryParse("this.n += 0", FormatLevel.Scripts, out command, out _));
        Assert.Equal(PatchStatus.NotModified, evaluator.Apply(ProgramOf(command), stored));
        Assert.True(TryParse("this.n.x.y = 0", FormatLevel.Scripts, out command, out _));
        Assert.Equal(PatchStatus.Failed, evaluator.Apply(ProgramOf(command), stored));
        Assert.Contains("'y' cannot be set", evaluator.Failure, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData("this.n = args.none", "")]
    [InlineData("this.tags.push(args.none)", "\"n\":1,\"tags\":[null]")]
    [InlineData("this.n = args.none === undefined", "\"n\":true")]
    public void An_argument_without_a_value_is_undefined(string script, string changed)
    {
        using var evaluator = new PatchEvaluator();
        var stored = new DocumentView(StoredDocumentTests.Store("""{"n":1,"tags":[]}""", "x"));
        Assert.True(TryParse(script, FormatLevel.Scripts, out var command, out var error), error.ToString());
        Assert.Equal(PatchStatus.Patched, evaluator.Apply(ProgramOf(command), stored));
        Assert.Contains(changed, Text(evaluator.Content), StringComparison.Ordinal);
        if (changed.Length == 0)
        {
            Assert.DoesNotContain("\"n\"", Text(evaluator.Content), StringComparison.Ordinal);
        }
    }

    [Fact]
    public void The_script_of_PatchIfMissing_creates_a_missing_document()
    {
        using var evaluator = new PatchEvaluator();
        string request =
            """{"Patch":{"Script":"this.n++","Values":{}},"PatchIfMissing":{"Script":"this.n = args.v * 2","Values":{"v":21}}}""";
        Assert.True(
            BatchRequestParser.TryParsePatch(
                Bytes(request),
                "x"u8,
                expected: default,
                skipOnMismatch: false,
                database: 1,
                key: default,
                out var batch,
                out var error,
                FormatLevel.Scripts
            ),
            error.ToString()
        );
        Assert.Equal(PatchStatus.Created, evaluator.ApplyToMissing(ProgramOf(batch.Command)));
        Assert.EndsWith("\"n\":42", Text(evaluator.Content), StringComparison.Ordinal);

        request =
            """{"Patch":{"Script":"this.n = args.v","Values":{"v":1}},"PatchIfMissing":{"Script":"this.n = 1 + 1"}}""";
        Assert.True(
            BatchRequestParser.TryParsePatch(
                Bytes(request),
                "x"u8,
                expected: default,
                skipOnMismatch: false,
                database: 1,
                key: default,
                out batch,
                out error,
                FormatLevel.Scripts
            ),
            error.ToString()
        );
        Assert.Equal(PatchStatus.Created, evaluator.ApplyToMissing(ProgramOf(batch.Command)));
        Assert.True(TryParse("this.n++", FormatLevel.Scripts, out var alone, out _));
        Assert.Equal(PatchStatus.DocumentDoesNotExist, evaluator.ApplyToMissing(ProgramOf(alone)));
    }

    [Theory]
    [InlineData("const k = '@metadata'; this[k] = { '@collection': 'Evil' }")]
    [InlineData("const k = '@metadata'; delete this[k]")]
    [InlineData("const k = '@metadata'; this[k]['@collection'] = 'Evil'")]
    public void A_script_that_creates_a_document_cannot_change_its_metadata(string script)
    {
        using var evaluator = new PatchEvaluator();
        string request = $$"""{"Patch":{"Script":"this.n++"},"PatchIfMissing":{"Script":"{{script}}; this.a = 1"} }""";
        Assert.True(
            BatchRequestParser.TryParsePatch(
                Bytes(request),
                "x"u8,
                expected: default,
                skipOnMismatch: false,
                database: 1,
                key: default,
                out var batch,
                out var error,
                FormatLevel.Scripts
            ),
            error.ToString()
        );
        Assert.Equal(PatchStatus.Failed, evaluator.ApplyToMissing(ProgramOf(batch.Command)));
        Assert.Contains("metadata cannot be changed", evaluator.Failure, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData("this.a = ", InputErrorKind.BadRequest, "this.a = \n         ^")]
    [InlineData("// nothing", InputErrorKind.BadRequest, "empty")]
    [InlineData("this = args.v", InputErrorKind.BadRequest, "cannot be assigned to")]
    [InlineData("this.a = args.v this.b = args.v", InputErrorKind.BadRequest, "'this'")]
    [InlineData("try { } catch (e) { }", InputErrorKind.NotSupported, "'try'")]
    public void Refusals_distinguish_wrong_scripts_from_unsupported_ones(
        string script,
        InputErrorKind kind,
        string part
    )
    {
        Assert.False(TryParse(script, FormatLevel.Scripts, out _, out var error));
        Assert.Equal(kind, error.Kind);
        Assert.Contains(part, error.What, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData("this.n = args.v | 1")]
    [InlineData("this.n = this.l.map(x => ~x)")]
    [InlineData("for (const k in this) this.n++")]
    [InlineData("this.b = 'n' in this")]
    [InlineData("this.l.sort((a, b) => a - b)")]
    [InlineData("function f() { throw 'x' } if (!this.n) f()")]
    public void Instructions_of_the_second_version_are_refused_until_the_upgrade_is_finalized(string script)
    {
        Assert.False(TryParse(script, FormatLevel.Scripts, out _, out var error));
        Assert.Equal(InputErrorKind.NotSupported, error.Kind);
        Assert.Contains("finalize-upgrade", error.What, StringComparison.Ordinal);
        Assert.True(TryParse(script, FormatLevel.ScriptsOfSecondVersion, out _, out error), error.ToString());
    }

    [Fact]
    public void A_script_for_a_missing_document_is_refused_until_the_upgrade_is_finalized()
    {
        string request = """{"Patch":{"Script":"this.n++"},"PatchIfMissing":{"Script":"this.n = 1 | 2"}}""";
        Assert.False(TryParseRequest(request, FormatLevel.Scripts, out _, out var error));
        Assert.Contains("finalize-upgrade", error.What, StringComparison.Ordinal);
        Assert.True(
            TryParseRequest(request, FormatLevel.ScriptsOfSecondVersion, out var command, out error),
            error.ToString()
        );
        using var evaluator = new PatchEvaluator();
        Assert.Equal(PatchStatus.Created, evaluator.ApplyToMissing(ProgramOf(command)));
        Assert.EndsWith("\"n\":3", Text(evaluator.Content), StringComparison.Ordinal);
    }

    [Fact]
    public void Loops_need_no_newer_format()
    {
        const string Script =
            "for (let i = 0; i < 3; i++) { switch (i) { case 1: continue } do this.n ??= i; while (false) }";
        Assert.True(TryParse(Script, FormatLevel.Scripts, out _, out var error), error.ToString());
    }

    [Fact]
    public void Replaying_the_log_gives_the_same_documents()
    {
        var disk = new SimulatedDisk("/data");
        string before;
        using (var node = SteppedNode.Open(disk, SteppedNode.Options("/data")))
        {
            node.CreateDatabase("db");
            node.Put("db", "a", """{"n":1,"tags":["x","y","x"]}""");
            Assert.Equal(FormatLevel.Newest, node.Core.FormatLevel.Level);
            foreach (
                string script in (string[])
                    [
                        "this.n++",
                        "this.tags = this.tags.filter(t => t != 'x')",
                        "if (this.n > 1) { this.name = args.v + this.n }",
                        "for (const k in this) { if (k === 'n') this.n |= 8 } this.tags.sort((a, b) => a < b ? 1 : -1)",
                        "this['@metadata'].owner = 'Ann'",
                    ]
            )
            {
                Assert.Null(node.Propose(EncodePatch(node, script)).Rejection);
            }

            Assert.Equal(
                RejectionKind.PatchFailed,
                node.Propose(EncodePatch(node, "this.none.x.y = 1")).Rejection?.Kind
            );
            before = node.Documents("db")["a"];
            Assert.Contains(
                """
                "n":10,"tags":["y"],"name":9
                """,
                before,
                StringComparison.Ordinal
            );
        }

        using var again = SteppedNode.Open(disk, SteppedNode.Options("/data"));
        Assert.Equal(before, again.Documents("db")["a"]);
    }

    [Fact]
    public void The_work_of_all_scripts_of_a_command_is_bounded_together()
    {
        using var node = SteppedNode.Open(new SimulatedDisk("/data"), SteppedNode.Options("/data"));
        node.CreateDatabase("db");
        node.Put("db", "a", $$"""{"l":[{{string.Join(',', Enumerable.Repeat("1", 200_000))}}]}""");
        Assert.Equal(
            RejectionKind.PatchFailed,
            node.Propose(EncodePatch(node, "for (const x of this.l) { this.l.push(x) }")).Rejection?.Kind
        );
        // One such patch maps 200,000 elements. It is accepted alone, but not 40 times in one command.
        string patch =
            """{"Id":"a","Type":"PATCH","Patch":{"Script":"for (const x of this.l) { this.n = this.l.map(y => x + y).length > 5 ? x : 0; break }"}}""";
        var rejection = node.Propose(EncodeBatch(node, patch, count: 40)).Rejection;
        Assert.Equal(RejectionKind.TooLarge, rejection?.Kind);
        Assert.Null(node.Propose(EncodeBatch(node, patch, count: 1)).Rejection);
    }

    /// <summary>Encodes a patch of the document 'a'; its argument v is 7.</summary>
    private static CommandBuffer EncodePatch(SteppedNode node, string script)
    {
        Assert.True(
            BatchRequestParser.TryParsePatch(
                Bytes(Request(script)),
                "a"u8,
                expected: default,
                skipOnMismatch: false,
                database: node.Database("db").Number,
                key: default,
                out var batch,
                out var error,
                node.Core.FormatLevel.Level
            ),
            error.ToString()
        );
        return batch.Command;
    }

    /// <summary>Encodes a batch with the same patch several times.</summary>
    private static CommandBuffer EncodeBatch(SteppedNode node, string patch, int count)
    {
        string body = $$"""{"Commands":[{{string.Join(',', Enumerable.Repeat(patch, count))}}]}""";
        Assert.True(
            BatchRequestParser.TryParse(
                Bytes(body),
                node.Database("db").Number,
                key: default,
                maxBatchBytes: 1 << 20,
                out var batch,
                out var error,
                FormatLevel.Scripts
            ),
            error.ToString()
        );
        return batch.Command;
    }

    private static bool TryParse(string script, int level, out CommandBuffer command, out InputError error) =>
        TryParseRequest(Request(script), level, out command, out error);

    private static bool TryParseRequest(string request, int level, out CommandBuffer command, out InputError error)
    {
        bool isParsed = BatchRequestParser.TryParsePatch(
            Bytes(request),
            "x"u8,
            expected: default,
            skipOnMismatch: false,
            database: 1,
            key: default,
            out var batch,
            out error,
            level
        );
        command = batch.Command;
        return isParsed;
    }

    private static string Request(string script) =>
        "{\"Patch\":{\"Script\":" + JsonSerializer.Serialize(script) + ",\"Values\":{\"v\": 7}}}";

    private static ProgramKind KindOf(CommandBuffer command) => (ProgramKind)ProgramOf(command).Bytes[0];

    private static PatchProgram ProgramOf(CommandBuffer command)
    {
        var reader = new CommandReader(command.Written.Span);
        Assert.True(reader.TryReadOperation(out var operation));
        return operation.Patch;
    }
}
