using System.Globalization;
using System.Text;
using System.Text.Encodings.Web;
using System.Text.Json;
using Rookery.Scripting.Syntax;

namespace Rookery.Scripting.Tests;

/// <summary>Scripts have the results of a real JavaScript engine, or are rejected by name.</summary>
public class EngineComparisonTests
{
    private const int ScriptsPerSeed = 4_000;

    // Kinds of scripts: a value, or statements that change a document.
    private const string Expression = "expression";
    private const string Statements = "statements";

    private static readonly JsonSerializerOptions Readable = new()
    {
        Encoder = JavaScriptEncoder.UnsafeRelaxedJsonEscaping,
    };

    [Theory]
    [InlineData(1)]
    [InlineData(2)]
    public async Task Expressions_have_the_values_of_a_real_engine(int seed)
    {
        var random = new TypedScript(new Random(seed));
        await CompareAsync(Expression, random.Expression);
    }

    [Theory]
    [InlineData(1)]
    [InlineData(2)]
    public async Task Statements_change_documents_as_a_real_engine_does(int seed)
    {
        var random = new TypedScript(new Random(seed));
        await CompareAsync(Statements, random.Statements);
    }

    [Theory]
    [InlineData(1)]
    [InlineData(2)]
    public async Task Numbers_are_read_and_written_as_a_real_engine_does(int seed)
    {
        var random = new NumberScript(new Random(seed));
        await CompareAsync(Expression, random.Expression);
    }

    /// <summary>A script that the engine refuses or that fails in it must not have a result here.</summary>
    [Theory]
    [InlineData(1)]
    [InlineData(2)]
    [InlineData(3)]
    public async Task Names_mean_what_they_mean_in_a_real_engine(int seed)
    {
        var random = new ScopeScript(new Random(seed));
        EngineScript[] scripts =
        [
            .. Enumerable
                .Range(0, 5 * ScriptsPerSeed)
                .Select(_ => new EngineScript(Statements, random.Statements(), "{}")),
        ];
        var expected = await JavaScriptEngine.RunAsync(scripts);
        var actual = scripts.Select(RunOrRefuse).ToList();
        var different = scripts
            .Index()
            .Where(script =>
                actual[script.Index] is { } result
                && !(expected[script.Index] is { } expectedResult && IsSame(expectedResult, result))
            )
            .OrderBy(script => script.Item.Text.Length)
            .Select(script => $"{script.Item.Text}\n  engine {expected[script.Index]}\n  ours   {actual[script.Index]}")
            .Take(40)
            .ToList();
        int compared = actual.Count(static result => result is not null);
        Assert.True(different.Count == 0, $"results differ from the engine's:\n{string.Join('\n', different)}");
        Assert.True(compared > scripts.Length / 40, $"only {compared} scripts were compared");
    }

    /// <summary>Returns the result of a script; null if it fails or is refused for any reason.</summary>
    private static string? RunOrRefuse(EngineScript script)
    {
        try
        {
            string result = Scripts.Patch(script.Text, script.Document);
            return result.StartsWith("failed: ", StringComparison.Ordinal) ? null : result;
        }
        catch (ScriptException)
        {
            return null;
        }
    }

    /// <summary>Runs random scripts here and in the engine, and fails if a result differs.</summary>
    private static async Task CompareAsync(string kind, Func<string> next)
    {
        var numbers = Enumerable.Range(0, ScriptsPerSeed);
        EngineScript[] scripts = [.. numbers.Select(_ => new EngineScript(kind, next(), TypedScript.Document))];
        var expected = await JavaScriptEngine.RunAsync(scripts);
        int compared = 0,
            refused = 0;
        var different = new StringBuilder();
        for (int index = 0; index < scripts.Length; index++)
        {
            if (expected[index] is not { } expectedResult)
            {
                continue;
            }

            string? actual = Run(scripts[index]);
            if (actual is null)
            {
                refused++;
                continue;
            }

            compared++;
            if (!IsSame(expectedResult, actual))
            {
                string text = JsonSerializer.Serialize(scripts[index].Text, Readable);
                different.AppendLine(
                    CultureInfo.InvariantCulture,
                    $"{text}\n  engine {expectedResult}\n  ours   {actual}"
                );
            }
        }

        Assert.True(different.Length == 0, $"results differ from the engine's:\n{different}");
        Assert.True(compared > scripts.Length / 3, $"only {compared} scripts were compared");
        Assert.True(refused < scripts.Length / 5, $"{refused} scripts were refused, more than a fifth");
    }

    /// <summary>Returns the result of a script; null if it is rejected.</summary>
    private static string? Run(EngineScript script)
    {
        try
        {
            string result = string.Equals(script.Kind, Expression, StringComparison.Ordinal)
                ? Scripts.Evaluate(script.Text, script.Document)
                : Scripts.Patch(script.Text, script.Document);
            return result.StartsWith("failed: ", StringComparison.Ordinal) ? null : result;
        }
        catch (ScriptException refusal) when (refusal.Fault == ScriptFault.NotSupported)
        {
            return null;
        }
        catch (ScriptException refusal)
        {
            return refusal.Message;
        }
    }

    /// <summary>Whether two results are the same text or equal JSON.</summary>
    private static bool IsSame(string expectedResult, string actual)
    {
        if (string.Equals(expectedResult, actual, StringComparison.Ordinal))
        {
            return true;
        }

        try
        {
            using var a = JsonDocument.Parse(expectedResult);
            using var b = JsonDocument.Parse(actual);
            return JsonElement.DeepEquals(a.RootElement, b.RootElement);
        }
        catch (Exception failure) when (failure is JsonException or InvalidOperationException)
        {
            return false;
        }
    }
}
