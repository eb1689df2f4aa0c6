namespace Rookery.Cluster.Joining;

/// <summary>A node could not join. The message says why and what to do.</summary>
/// <param name="message">One or two sentences.</param>
public sealed class JoinException(string message) : IOException(message);
