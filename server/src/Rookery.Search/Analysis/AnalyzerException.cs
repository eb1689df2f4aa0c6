namespace Rookery.Search.Analysis;

/// <summary>
/// Thrown if an analyzer cannot be created, because its name is unknown, its settings are invalid, or a library is not
/// installed. The message is for the author of the index definition.
/// </summary>
/// <param name="message">What is wrong and what to do.</param>
public sealed class AnalyzerException(string message) : Exception(message);
