namespace Rookery.Documents.Nodes;

/// <summary>Thrown if the files of a node could not be merged. The message states why and what to do.</summary>
/// <param name="message">Two or three sentences.</param>
public sealed class FileMergeException(string message) : IOException(message);
