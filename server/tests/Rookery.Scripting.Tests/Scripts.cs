using Rookery.Documents.Stored;
using Rookery.Fixtures;
using Rookery.Scripting.Compiling;
using Rookery.Scripting.Running;
using static Rookery.Fixtures.Utf8Text;

namespace Rookery.Scripting.Tests;

/// <summary>Runs scripts over documents.</summary>
internal static class Scripts
{
    /// <summary>Returns the JSON of an expression on a document <c>u</c>, or why it failed.</summary>
    public static string Evaluate(string expression, string document, string functions = "", string args = "{}")
    {
        using var interpreter = new ScriptInterpreter();
        interpreter.Load(JavaScript.CompileProjection(expression, ["u", "args"], functions));
        interpreter.Begin();
        interpreter.AddDocument(new DocumentView(StoredExample.Store("users/1", document)).ToScript());
        interpreter.AddJson(Bytes(args));
        return RunAndWrite(interpreter);
    }

    /// <summary>Returns the document after a patch, or why the patch failed.</summary>
    public static string Patch(string script, string document, string args = "{}", ScriptLimits? limits = null)
    {
        using var interpreter = new ScriptInterpreter(limits);
        interpreter.Load(JavaScript.CompilePatch(script));
        interpreter.Begin();
        interpreter.AddDocument(new DocumentView(StoredExample.Store("users/1", document)).ToScript());
        interpreter.AddJson(Bytes(args));
        return interpreter.TryRun() && interpreter.TryWriteParameter(index: 0, out var json)
            ? Text(json)
            : "failed: " + interpreter.Failure;
    }

    /// <summary>Runs the script that was begun, and returns its result.</summary>
    public static string RunAndWrite(ScriptInterpreter interpreter) =>
        interpreter.TryRun() && interpreter.TryWriteResult(out var json)
            ? Text(json)
            : "failed: " + interpreter.Failure;
}
