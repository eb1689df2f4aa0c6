namespace Rookery.Documents.Redis;

/// <summary>
/// Thrown while a command of Redis runs that would reply, read or compute more than a command may. Nothing of the
/// command is carried out.
/// </summary>
/// <param name="message">What exceeds which limit, and what to do.</param>
public sealed class RedisLimitException(string message) : Exception(message);
