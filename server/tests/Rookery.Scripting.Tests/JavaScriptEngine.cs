using System.Diagnostics;
using System.Text.Json;

namespace Rookery.Scripting.Tests;

/// <summary>A real JavaScript engine, that of Node, as the reference for results of scripts.</summary>
internal static class JavaScriptEngine
{
    private static readonly string Program = Path.Combine(AppContext.BaseDirectory, "javascript-engine.mjs");

    /// <summary>
    /// Runs scripts, each on its own document: an expression with the document as <c>u</c>, or statements with the
    /// document as <c>this</c>.
    /// </summary>
    /// <returns>The JSON of each value or changed document; null where the engine throws.</returns>
    public static async Task<IReadOnlyList<string?>> RunAsync(IReadOnlyList<EngineScript> scripts)
    {
        var start = new ProcessStartInfo("node", [Program])
        {
            UseShellExecute = false,
            RedirectStandardInput = true,
            RedirectStandardOutput = true,
            Environment = { ["TZ"] = "UTC" },
        };
        using var process = Process.Start(start)!;
        using var limit = new CancellationTokenSource(TimeSpan.FromMinutes(2));
        try
        {
            var output = process.StandardOutput.ReadToEndAsync(limit.Token);
            var requests = scripts.Select(static script => new[] { script.Kind, script.Text, script.Document });
            await process.StandardInput.WriteAsync(JsonSerializer.Serialize(requests).AsMemory(), limit.Token);
            process.StandardInput.Close();
            using var answer = JsonDocument.Parse(await output);
            return [.. answer.RootElement.EnumerateArray().Select(static result => result.GetString())];
        }
        finally
        {
            process.Kill();
        }
    }
}

/// <summary>A script for the engine.</summary>
/// <param name="Kind"><c>expression</c> or <c>statements</c>.</param>
/// <param name="Text">The script.</param>
/// <param name="Document">The document, as JSON.</param>
internal sealed record EngineScript(string Kind, string Text, string Document);
