namespace Rookery.Documents.Commands;

/// <summary>Thrown if a command from the journal does not decode.</summary>
/// <param name="message">The problem, in one sentence.</param>
public sealed class CommandFormatException(string message) : Exception(message);
