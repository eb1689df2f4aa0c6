namespace Rookery.Scripting.Running;

/// <summary>
/// Ends a run: the script needs something that does not exist, or exceeds a limit. Caught inside the interpreter.
/// </summary>
/// <param name="reason">The reason, without a full stop.</param>
internal sealed class ScriptFailure(string reason) : Exception(reason);
