using Rookery.Json;

namespace Rookery.Scripting.Running;

/// <summary>The state that the built-in functions of a run share.</summary>
internal sealed class ScriptContext
{
    /// <summary>Creates the state for runs.</summary>
    /// <param name="limits">The limits of a run.</param>
    public ScriptContext(ScriptLimits limits)
    {
        Documents = new RunDocuments(Heap, limits);
        Patterns = new RunPatterns(Heap);
        Stored = new ResultWriter(Heap, limits);
        Json = new ResultWriter(Heap, limits) { WritesShortDates = true };
        Answer = new RunAnswer(Heap, Documents, limits);
    }

    /// <summary>The values of the run, with its remaining steps and memory.</summary>
    public ScriptHeap Heap { get; } = new();

    /// <summary>The documents passed to the run, and those that it loads.</summary>
    public RunDocuments Documents { get; }

    /// <summary>The regular expressions of the run, and what they found.</summary>
    public RunPatterns Patterns { get; }

    /// <summary>Loads, stores and deletes documents for a patch; null for other runs.</summary>
    public IScriptStore? Store { get; set; }

    /// <summary>Writes the documents that a patch stores.</summary>
    public ResultWriter Stored { get; }

    /// <summary>Writes the texts of <c>JSON.stringify</c>.</summary>
    public ResultWriter Json { get; }

    /// <summary>Finds double keys in the texts of <c>JSON.parse</c>.</summary>
    public ObjectKeys JsonKeys { get; } = new() { AcceptsDuplicates = true };

    /// <summary>The time of the run's command, in milliseconds since 1970; NaN if it has none.</summary>
    public double Now { get; set; } = double.NaN;

    /// <summary>What the run reads for, and adds to, the answer of a query.</summary>
    public RunAnswer Answer { get; }

    /// <summary>Whether doubles are added by their digits: see <see cref="ScriptInterpreter.AddsDecimals"/>.</summary>
    public bool AddsDecimals { get; set; }
}
