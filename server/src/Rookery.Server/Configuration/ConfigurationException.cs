namespace Rookery.Server.Configuration;

/// <summary>
/// Thrown if the configuration of the node is invalid. The message is one sentence: what is wrong and where.
/// </summary>
/// <param name="sentence">The message.</param>
public sealed class ConfigurationException(string sentence) : Exception(sentence);
