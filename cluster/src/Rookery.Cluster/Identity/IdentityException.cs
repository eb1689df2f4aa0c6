namespace Rookery.Cluster.Identity;

/// <summary>
/// A node's identity, or its cluster's authority, cannot be used. The message says why and what to do.
/// </summary>
/// <param name="message">One or two sentences.</param>
public sealed class IdentityException(string message) : IOException(message);
