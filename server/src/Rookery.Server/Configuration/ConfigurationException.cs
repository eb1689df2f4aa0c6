namespace Rookery.Server.Configuration;

/// <summary>
/// The node was asked to run in a way it cannot. The message is one sentence that says what is wrong and where.
/// </summary>
/// <param name="sentence">What and where.</param>
public sealed class ConfigurationException(string sentence) : Exception(sentence);
