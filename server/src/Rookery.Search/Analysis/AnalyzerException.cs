namespace Rookery.Search.Analysis;

/// <summary>
/// An analyzer cannot be had: its name is unknown, its settings make no sense, or what it needs is not installed. The
/// message is for who defines the index.
/// </summary>
/// <param name="message">What is wrong and what to do.</param>
public sealed class AnalyzerException(string message) : Exception(message);
