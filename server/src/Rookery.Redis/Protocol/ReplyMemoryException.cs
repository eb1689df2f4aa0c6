namespace Rookery.Redis.Protocol;

/// <summary>The memory for Redis clients has no room for a reply.</summary>
/// <param name="message">The reason for the client.</param>
internal sealed class ReplyMemoryException(string message) : Exception(message);
