// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.integration;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.math.BigInteger;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.Date;
import org.bouncycastle.bcpg.ArmoredOutputStream;
import org.bouncycastle.bcpg.HashAlgorithmTags;
import org.bouncycastle.bcpg.PublicKeyAlgorithmTags;
import org.bouncycastle.bcpg.PublicKeyPacket;
import org.bouncycastle.bcpg.SymmetricKeyAlgorithmTags;
import org.bouncycastle.crypto.generators.RSAKeyPairGenerator;
import org.bouncycastle.crypto.params.RSAKeyGenerationParameters;
import org.bouncycastle.openpgp.PGPException;
import org.bouncycastle.openpgp.PGPKeyPair;
import org.bouncycastle.openpgp.PGPKeyRingGenerator;
import org.bouncycastle.openpgp.PGPSignature;
import org.bouncycastle.openpgp.PGPSignatureList;
import org.bouncycastle.openpgp.PGPUtil;
import org.bouncycastle.openpgp.bc.BcPGPObjectFactory;
import org.bouncycastle.openpgp.operator.PGPDigestCalculator;
import org.bouncycastle.openpgp.operator.bc.BcPBESecretKeyEncryptorBuilder;
import org.bouncycastle.openpgp.operator.bc.BcPGPContentSignerBuilder;
import org.bouncycastle.openpgp.operator.bc.BcPGPContentVerifierBuilderProvider;
import org.bouncycastle.openpgp.operator.bc.BcPGPDigestCalculatorProvider;
import org.bouncycastle.openpgp.operator.bc.BcPGPKeyPair;

/** A new OpenPGP key, for one test, which needs no gpg. */
final class SigningKey {
  private static final BigInteger EXPONENT = BigInteger.valueOf(0x10001);

  private final PGPKeyPair pair;

  SigningKey() throws PGPException {
    RSAKeyPairGenerator generator = new RSAKeyPairGenerator();
    generator.init(new RSAKeyGenerationParameters(EXPONENT, new SecureRandom(), 2048, 100));
    pair =
        new BcPGPKeyPair(
            PublicKeyPacket.VERSION_4,
            PublicKeyAlgorithmTags.RSA_GENERAL,
            generator.generateKeyPair(),
            new Date());
  }

  /** Writes the private key to a file, protected by a passphrase, as gpg exports it. */
  void export(Path file, String passphrase) throws IOException, PGPException {
    // The format demands SHA-1 for the checksum of a private key.
    PGPDigestCalculator sha1 = new BcPGPDigestCalculatorProvider().get(HashAlgorithmTags.SHA1);
    PGPKeyRingGenerator ring =
        new PGPKeyRingGenerator(
            PGPSignature.POSITIVE_CERTIFICATION,
            pair,
            "Test of ./release",
            sha1,
            null,
            null,
            new BcPGPContentSignerBuilder(
                pair.getPublicKey().getAlgorithm(), HashAlgorithmTags.SHA256),
            new BcPBESecretKeyEncryptorBuilder(SymmetricKeyAlgorithmTags.AES_256, sha1)
                .build(passphrase.toCharArray()));
    try (OutputStream out = new ArmoredOutputStream(Files.newOutputStream(file))) {
      ring.generateSecretKeyRing().encode(out);
    }
  }

  /** Returns whether a file's signature, in the file beside it, is by this key. */
  boolean hasSigned(Path file) throws IOException, PGPException {
    try (InputStream in = Files.newInputStream(Path.of(file + ".asc"))) {
      Object signatures = new BcPGPObjectFactory(PGPUtil.getDecoderStream(in)).nextObject();
      PGPSignature signature = ((PGPSignatureList) signatures).get(0);
      if (signature.getKeyID() != pair.getKeyID()) {
        return false;
      }
      signature.init(new BcPGPContentVerifierBuilderProvider(), pair.getPublicKey());
      signature.update(Files.readAllBytes(file));
      return signature.verify();
    }
  }
}
