namespace Rookery.Scripting.Running;

/// <summary>
/// A script cannot go on: what it wants of this document does not exist, or takes more than it may. Never leaves the
/// interpreter.
/// </summary>
/// <param name="reason">Why, without a full stop.</param>
internal sealed class ScriptFailure(string reason) : Exception(reason);
